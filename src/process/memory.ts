/** Whether the limits leave room to serve, beyond what the process itself takes. @module */

import { formatSize } from '../config/units.js'

/** What the first hundred requests take: 15 MiB were measured. */
const reserve = 16 * 1024 ** 2 // bytes

export interface MemoryLimits {
  /** Resident memory, in bytes, above which requests are refused. */
  readonly maxMemoryBytes: number
  /** Size of all items together, in bytes. */
  readonly maxStoreBytes: number
}

export type MemoryVerdict =
  | { readonly verdict: 'serve' }
  | { readonly verdict: 'warn' | 'refuse'; readonly reason: string }

/**
 * A process that exceeds its limit while idle would refuse every request, so it does not start. One that
 * would exceed it only with a full store gets a warning, because the store may never fill up.
 * @param idleBytes resident memory of the process before it serves.
 */
export function checkMemory(
  idleBytes: number,
  { maxMemoryBytes, maxStoreBytes }: MemoryLimits,
): MemoryVerdict {
  const idle = `the idle process alone takes ${inMebibytes(idleBytes)}`
  const limit = `MAX_MEMORY_BYTES is ${formatSize(maxMemoryBytes)}`
  if (idleBytes + reserve > maxMemoryBytes) {
    const minimum = inMebibytes(idleBytes + reserve)
    return {
      verdict: 'refuse',
      reason: `${limit}, but ${idle}: item requests would be refused; allow at least ${minimum}`,
    }
  }
  if (idleBytes + maxStoreBytes > maxMemoryBytes) {
    return {
      verdict: 'warn',
      reason: `${limit}, but ${idle} and MAX_STORE_BYTES is ${formatSize(maxStoreBytes)}: item requests may get 503 before the store is full`,
    }
  }
  return { verdict: 'serve' }
}

/** Rounded up, so that it is enough as a limit. */
function inMebibytes(bytes: number): string {
  return `${Math.ceil(bytes / 1024 ** 2)}MiB`
}
