/** Whether the limits leave room to serve, beside what the process itself takes. @module */

import { formatSize } from '../units.js'

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
 * A limit that the process passes when it is idle would have it refuse every request: that is no
 * start. One that it passes when the store is full is worth a warning, as it may never be full.
 * @param idleBytes resident memory of the process before it serves.
 */
export function judgeMemory(
  idleBytes: number,
  { maxMemoryBytes, maxStoreBytes }: MemoryLimits,
): MemoryVerdict {
  const idle = `the process alone takes ${inMebibytes(idleBytes)} when idle`
  const limit = `MAX_MEMORY_BYTES is ${formatSize(maxMemoryBytes)}`
  if (idleBytes + reserve > maxMemoryBytes) {
    const least = inMebibytes(idleBytes + reserve)
    return {
      verdict: 'refuse',
      reason: `${limit}, but ${idle}: requests for items would be refused; allow at least ${least}`,
    }
  }
  if (idleBytes + maxStoreBytes > maxMemoryBytes) {
    return {
      verdict: 'warn',
      reason: `${limit}, but ${idle} and MAX_STORE_BYTES is ${formatSize(maxStoreBytes)}: requests for items may get 503 before the store is full`,
    }
  }
  return { verdict: 'serve' }
}

/** Rounded up, so that it can be typed as a limit. */
function inMebibytes(bytes: number): string {
  return `${Math.ceil(bytes / 1024 ** 2)}MiB`
}
