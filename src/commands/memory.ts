/** Whether the limits leave room to serve, in addition to what the process itself takes. @module */

import { formatSize } from '../units.js'

/** Taken by the first hundred requests: 15 MiB were measured. */
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
 * A limit that the idle process exceeds would make it refuse every request, so it does not start. A
 * limit that it exceeds only with a full store is worth a warning, because the store may never be full.
 * @param idleBytes resident memory of the process before it serves.
 */
export function judgeMemory(
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

/** Rounded up, so that it can be typed as a limit. */
function inMebibytes(bytes: number): string {
  return `${Math.ceil(bytes / 1024 ** 2)}MiB`
}
