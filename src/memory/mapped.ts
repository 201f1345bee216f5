/**
 * Buffers with a memory mapping of their own, which is returned to the system as soon as the buffer is freed. glibc
 * takes smaller blocks from its heap, where blocks of mixed sizes leave holes. Once a mapping of 2 MB has been freed,
 * glibc takes all blocks of up to 2 MB from its heap (mallopt(3), M_MMAP_THRESHOLD). At the end of the heap, glibc then
 * keeps up to 4 MB free.
 *
 * @module
 */

/** Minimum length of a mapped buffer, in bytes. Mapping a shorter buffer takes longer than the rest of a request. */
export const mappedFrom = 32 * 1024

/**
 * Returns zeroed memory with a mapping of its own. V8 makes such a mapping for each resizable ArrayBuffer.
 * @param maxLength maximum length that `resized` can set, in bytes; unused length takes no memory.
 * @throws {RangeError} if the system has no memory left.
 */
export function mapped(length: number, maxLength = length): Buffer {
  const Resizable = ArrayBuffer as new (length: number, options: object) => ArrayBuffer // ES2024, Node.js 20
  return Buffer.from(new Resizable(length, { maxByteLength: maxLength }))
}

/**
 * Extends or shortens a mapped buffer in place.
 * @param buffer a result of `mapped` or `resized`.
 * @throws {RangeError} if the system has no memory left.
 */
export function resized({ buffer }: Buffer, length: number): Buffer {
  const resizable = buffer as ArrayBuffer & { resize(length: number): void } // ES2024, Node.js 20
  resizable.resize(length)
  return Buffer.from(resizable)
}

export function isMapped({ buffer }: Buffer): boolean {
  return (buffer as ArrayBuffer & { resizable: boolean }).resizable // ES2024, Node.js 20
}

/**
 * Minimum size of a block that glibc always maps, in bytes. Freeing such a block does not raise glibc's threshold for
 * later blocks (mallopt(3)). Only the used pages of a block take memory.
 */
export const alwaysMapped = 32 * 1024 * 1024

/** Maximum number of bytes freed per turn of the event loop. V8 first overwrites the bytes, which takes up to 2 ms. */
const releasedAtOnce = 4 * 1024 * 1024

/** Returns the memory of a buffer to the system, if `mapped` made the buffer. Do not use the buffer afterwards. */
export function released(buffer: Buffer): void {
  if (!isMapped(buffer)) return
  const { length } = resized(buffer, Math.max(0, buffer.length - releasedAtOnce))
  if (length > 0) setImmediate(() => released(Buffer.from(buffer.buffer)))
}

/**
 * Allocates memory. Call this function before any change, so that a failed allocation leaves everything unchanged.
 * @param refusal returns the error to throw if the system has no memory left.
 */
export function allocate<T>(make: () => T, refusal: (cause: RangeError) => Error): T {
  try {
    return make()
  } catch (error) {
    throw error instanceof RangeError ? refusal(error) : error
  }
}
