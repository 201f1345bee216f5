/**
 * Buffers with a mapping of their own, which the system takes back as soon as they are freed. glibc serves smaller
 * blocks from its heap, where blocks of mixed sizes leave holes. Once it has freed a mapping of 2 MB, it also serves
 * everything up to that size from its heap, and keeps up to 4 MB at the end of it (mallopt(3), M_MMAP_THRESHOLD).
 *
 * @module
 */

/** Length in bytes from which a mapping pays. For a shorter buffer, its pages cost more time than the rest of a request. */
export const mappedFrom = 32 * 1024

/**
 * Returns zeroed memory that V8 maps, as it does for each resizable ArrayBuffer.
 * @param maxLength length up to which `resized` can extend it; it takes no memory until then.
 * @throws {RangeError} if the system has no memory left.
 */
export function mapped(length: number, maxLength = length): Buffer {
  const Resizable = ArrayBuffer as new (length: number, options: object) => ArrayBuffer // ES2024, Node.js 20
  return Buffer.from(new Resizable(length, { maxByteLength: maxLength }))
}

/**
 * Extends or shortens a buffer in place.
 * @param buffer a result of `mapped` or `resized`.
 * @throws {RangeError} if the system has no memory left.
 */
export function resized({ buffer }: Buffer, length: number): Buffer {
  const resizable = buffer as ArrayBuffer & { resize(length: number): void } // ES2024, Node.js 20
  resizable.resize(length)
  return Buffer.from(resizable)
}

/** Whether `mapped` made this buffer. */
export function isMapped({ buffer }: Buffer): boolean {
  return (buffer as ArrayBuffer & { resizable: boolean }).resizable // ES2024, Node.js 20
}

/**
 * Size in bytes from which glibc maps a block whatever was freed before, without mapping fewer blocks later
 * (mallopt(3)). Only the pages that are used take memory.
 */
export const alwaysMapped = 32 * 1024 * 1024

/** Bytes returned to the system in one turn of the event loop: V8 overwrites them first, which takes up to two milliseconds. */
const releasedAtOnce = 4 * 1024 * 1024

/** Returns the memory of a buffer that nothing refers to any more. Does nothing unless `mapped` made it. */
export function released(buffer: Buffer): void {
  if (!isMapped(buffer)) return
  const { length } = resized(buffer, Math.max(0, buffer.length - releasedAtOnce))
  if (length > 0) setImmediate(() => released(Buffer.from(buffer.buffer)))
}

/**
 * Allocates memory. Call it before anything changes, so that a refusal leaves everything as it was.
 * @param refusal makes the error to throw if the system has no memory left.
 */
export function allocate<T>(make: () => T, refusal: (cause: RangeError) => Error): T {
  try {
    return make()
  } catch (error) {
    throw error instanceof RangeError ? refusal(error) : error
  }
}
