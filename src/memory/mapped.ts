/** Buffers with their own memory mapping; on glibc's heap they'd leave holes (mallopt(3)). @module */

import { types } from 'node:util'
import { MessageChannel } from 'node:worker_threads'
import { performance } from './timers.js'

/** Minimum length of a mapped buffer, in bytes. Mapping a shorter one takes too long. */
export const mappedFrom = 32 * 1024

const Resizable = ArrayBuffer as new (length: number, options: object) => ArrayBuffer // ES2024, Node.js 20

/** Returns zeroed memory that can grow to `maxLength` bytes. @throws {RangeError} if the system has no memory left. */
export function mapped(length: number, maxLength = length): Buffer {
  requireAddresses(maxLength)
  return Buffer.from(new Resizable(length, { maxByteLength: maxLength })) // V8 maps each one separately
}

const spareBytes = 64 * 1024 * 1024 // of address space; V8 ends the process if a garbage collection finds none
const bytesPerCheck = 16 * 1024 * 1024 // mapped between two checks for free address space

/** Closed port. It discards posted messages at once, with the memory that they transfer. */
const { port1: nowhere } = new MessageChannel()
nowhere.close()
// At the first transfer in a process, V8 discards all optimized code that uses buffers. There is none yet.
nowhere.postMessage(undefined, [new ArrayBuffer(1)])

let uncheckedBytes = 0
let failedBytes = Number.POSITIVE_INFINITY
let retryAt = 0

/** Checks that V8 has enough address space left after mapping `length` bytes. @throws {RangeError} if not. */
export function requireAddresses(length: number): void {
  uncheckedBytes -= length
  if (uncheckedBytes >= 0) return
  const start = performance.now()
  if (length >= failedBytes && start < retryAt) throw new RangeError(allocationFailed)
  try {
    const reserved = new Resizable(0, { maxByteLength: length + bytesPerCheck + spareBytes })
    nowhere.postMessage(undefined, [reserved])
    uncheckedBytes = bytesPerCheck
  } catch (error) {
    // V8 collects all garbage before an allocation fails. The pause limits that to a twentieth of the time.
    retryAt = start + 20 * Math.floor(performance.now() - start)
    failedBytes = length
    throw error
  }
}

/** Changes a buffer's length in place. @throws {RangeError} if the system has no memory left. */
export function resized({ buffer }: Buffer, length: number): Buffer {
  const resizable = buffer as ArrayBuffer & { resize(length: number): void } // ES2024, Node.js 20
  resizable.resize(length)
  return Buffer.from(resizable)
}

export function isMapped({ buffer }: Buffer): boolean {
  return (buffer as ArrayBuffer & { resizable: boolean }).resizable // ES2024, Node.js 20
}

/** Size in bytes from which glibc always maps an allocation separately (mallopt(3)). */
export const alwaysMapped = 32 * 1024 * 1024

const allocationFailed = 'Array buffer allocation failed'

/** True if the system had no memory left. V8 and Node.js have three messages for that, and no code. */
export function isOutOfMemory(error: unknown): error is Error {
  // In a test runner, `instanceof` fails for errors that Node.js creates.
  if (!types.isNativeError(error) || error.name !== 'RangeError') return false
  return /allocat(?:ion|e)|resize/.test(error.message)
}

/** Frees a buffer's whole `ArrayBuffer` without waiting for garbage collection. Leaves it empty. */
export function freed(buffer: Buffer): void {
  if (buffer.length > 0) nowhere.postMessage(undefined, [buffer.buffer as ArrayBuffer]) // not shared by threads
}
