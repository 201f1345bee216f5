/** Fits the number of connections to the limit on file descriptors. @module */

import { readdirSync, readFileSync } from 'node:fs'

/** Descriptors reserved for everything else: files, metrics, connections about to be refused. */
const reserve = 32

/**
 * How many connections the process has descriptors for, to be asked once everything is loaded; at least
 * one. Where the system does not tell (only Linux does, proc(5)), the number wanted.
 * @param maxConnections the number wanted.
 */
export function affordableConnections(maxConnections: number): number {
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8')
    const limit = Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY)
    const used = readdirSync('/proc/self/fd').length
    return Math.max(1, Math.min(maxConnections, limit - used - reserve))
  } catch {
    return maxConnections
  }
}
