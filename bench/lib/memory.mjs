/** The resident memory of a process as Linux counts it. */

import { readFileSync } from 'node:fs'

/**
 * In bytes.
 * @param {number | undefined} pid
 */
export function residentBytes(pid) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) * 1024
}
