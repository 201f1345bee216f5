/** How much of the memory of this machine, and of its JavaScript heap, there is for something. @module */

import { totalmem } from 'node:os'
import { getHeapStatistics } from 'node:v8'

const mebibyte = 1024 ** 2

/** How many times this many bytes fit into the JavaScript heap at its maximum size. */
export function timesInHeap(bytes: number): number {
  return Math.floor(getHeapStatistics().heap_size_limit / bytes)
}

/**
 * A fraction of the memory that the process may use: that of its control group if limited, otherwise
 * all. In whole MiB, so that it is short to show and to type.
 */
export function fractionOfMemory(fraction: number): number {
  const limit = process.constrainedMemory()
  const memory = limit > 0 ? Math.min(limit, totalmem()) : totalmem()
  return Math.max(1, Math.floor((memory * fraction) / mebibyte)) * mebibyte
}
