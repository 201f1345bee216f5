/** Shares of the memory of this machine, and of the JavaScript heap. @module */

import { totalmem } from 'node:os'
import { getHeapStatistics } from 'node:v8'

export const kibibyte = 1024
export const mebibyte = 1024 ** 2

/**
 * The most that V8's heap limit includes for new objects, in bytes: three semi-spaces of 64 MiB in
 * Node.js 24, of 32 in 26, and of 16 in 20 and 22.
 */
const newObjects = 192 * mebibyte

/** How many objects of this size, in bytes, fit into the JavaScript heap at its maximum size if they are kept. */
export function timesInHeap(bytes: number): number {
  const limit = getHeapStatistics().heap_size_limit
  return Math.floor(Math.max(limit - newObjects, 0.4 * limit) / bytes)
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

/** A number of bytes, in the words of an error. */
export function bytesText(count: number): string {
  return `${count} ${count === 1 ? 'byte' : 'bytes'}`
}
