/** Buffers that each have a memory mapping. Freeing buffers on glibc's heap would leave holes (mallopt(3)). @module */

import hooks from 'node:perf_hooks'
import timers from 'node:timers'
import { types } from 'node:util'
import { MessageChannel } from 'node:worker_threads'

// Kept, because test runners replace them.
const { setImmediate } = timers
const now = hooks.performance.now.bind(hooks.performance)

/** Minimum length of a memory-mapped buffer, in bytes. Mapping a shorter buffer would take too long. */
export const mappedFrom = 32 * 1024

const Resizable = ArrayBuffer as new (length: number, options: object) => ArrayBuffer // ES2024, Node.js 20

/** Returns zeroed memory that can grow to `maxLength` bytes. @throws {RangeError} if the system has no memory left. */
export function mapped(length: number, maxLength = length): Buffer {
  requireAddresses(maxLength)
  return Buffer.from(new Resizable(length, { maxByteLength: maxLength })) // V8 maps each one separately
}

/** Address space to keep free, in bytes. V8 ends the process if a garbage collection finds none. */
const spareBytes = 64 * 1024 * 1024

/** Number of bytes to map between two checks whether that much is free. */
const bytesPerCheck = 16 * 1024 * 1024

/** Closed port, which discards posted messages at once, with the memory that they transfer. */
const { port1: nowhere } = new MessageChannel()
nowhere.close()

let uncheckedBytes = 0
let failedBytes = Number.POSITIVE_INFINITY
let retryAt = 0

/** Checks whether `length` bytes can be mapped so that V8 has enough address space left. @throws {RangeError} if not. */
export function requireAddresses(length: number): void {
  uncheckedBytes -= length
  if (uncheckedBytes >= 0) return
  const start = now()
  if (length >= failedBytes && start < retryAt) throw new RangeError(allocationFailed)
  try {
    const reserved = new Resizable(0, { maxByteLength: length + bytesPerCheck + spareBytes })
    nowhere.postMessage(undefined, [reserved])
    uncheckedBytes = bytesPerCheck
  } catch (error) {
    // Before V8 fails, it collects all garbage. At most a twentieth of the time may be spent on that.
    retryAt = start + 20 * Math.floor(now() - start)
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

/** Minimum size of an allocation that glibc always maps separately, in bytes (mallopt(3)). */
export const alwaysMapped = 32 * 1024 * 1024

/** Number of bytes to free per slice. A slice takes 1 to 2 ms, because V8 overwrites the bytes first. */
const releasedAtOnce = 1024 * 1024

/** Returns a mapped buffer's memory to the system in slices. The buffer must not be used afterwards. */
export function released(buffer: Buffer): void {
  if (!isMapped(buffer)) return
  const left = Math.max(0, buffer.buffer.byteLength - releasedAtOnce)
  resized(buffer, left)
  if (left > 0) setImmediate(() => released(buffer))
}

const allocationFailed = 'Array buffer allocation failed'

/** Returns whether the system had no memory left. V8 and Node.js have three messages for that, but no common code. */
export function isOutOfMemory(error: unknown): error is Error {
  // In a test runner, `instanceof` fails for errors that Node.js creates.
  if (!types.isNativeError(error) || error.name !== 'RangeError') return false
  return /allocat(?:ion|e)|resize/.test(error.message)
}

/** Frees the whole `ArrayBuffer` of a buffer now, not when garbage is collected. Afterwards, the buffer is empty. */
export function freed(buffer: Buffer): void {
  if (isMapped(buffer)) released(buffer)
  else if (buffer.length > 0) nowhere.postMessage(undefined, [buffer.buffer as ArrayBuffer]) // not shared by threads
}

/** Returns the result of `make`. If the system has no memory left, throws the error that `refusal` returns. */
export function allocate<T>(make: () => T, refusal: (cause: Error) => Error): T {
  try {
    return make()
  } catch (error) {
    throw isOutOfMemory(error) ? refusal(error) : error
  }
}
