/** Calculates limits as shares of the machine's memory and of the JavaScript heap, and formats sizes. @module */

import { totalmem } from 'node:os'
import { getHeapStatistics } from 'node:v8'

export const kibibyte = 1024
export const mebibyte = 1024 ** 2

/**
 * A limit in the metrics. What would exceed it is rejected, answered at once or closed. Its value and maximum have the
 * same unit.
 */
export interface Limit {
  readonly limit: string
  readonly maximum: number
  value(): number
}

const newObjects = 192 * mebibyte // of V8's heap limit: three semi-spaces of 64 MiB

/** Returns how many objects of `bytes` bytes fit in the heap at its maximum size. */
export function timesInHeap(bytes: number): number {
  const limit = getHeapStatistics().heap_size_limit
  return Math.floor(Math.max(limit - newObjects, 0.4 * limit) / bytes)
}

/** Returns a fraction of the control group's or machine's memory in bytes, rounded down to whole MiB. */
export function fractionOfMemory(fraction: number): number {
  const limit = process.constrainedMemory()
  const memory = limit > 0 ? Math.min(limit, totalmem()) : totalmem()
  return Math.max(1, Math.floor((memory * fraction) / mebibyte)) * mebibyte
}

export function bytesText(count: number): string {
  return `${count} ${count === 1 ? 'byte' : 'bytes'}`
}
