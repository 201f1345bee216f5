/** Buffers that each have a memory mapping. Freeing buffers on glibc's heap would leave holes (mallopt(3)). @module */

/** Minimum length of a memory-mapped buffer, in bytes. Mapping a shorter buffer would take too long. */
export const mappedFrom = 32 * 1024

/** Returns zeroed memory that can grow to `maxLength` bytes. @throws {RangeError} if the system has no memory left. */
export function mapped(length: number, maxLength = length): Buffer {
  const Resizable = ArrayBuffer as new (length: number, options: object) => ArrayBuffer // ES2024, Node.js 20
  return Buffer.from(new Resizable(length, { maxByteLength: maxLength })) // V8 maps each one separately
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
export function* releasedInSlices(buffer: Buffer): Generator<undefined, void, void> {
  if (!isMapped(buffer)) return
  let { byteLength } = buffer.buffer
  while (byteLength > 0) {
    byteLength = Math.max(0, byteLength - releasedAtOnce)
    resized(buffer, byteLength)
    yield
  }
}

/** Releases a mapped buffer in the background. The buffer must not be used afterwards. */
export function released(buffer: Buffer): void {
  const slices = releasedInSlices(buffer)
  const next = () => {
    if (!slices.next().done) setImmediate(next)
  }
  next()
}

/** Returns the result of `make`. If the system has no memory left, throws the error that `refusal` returns. */
export function allocate<T>(make: () => T, refusal: (cause: RangeError) => Error): T {
  try {
    return make()
  } catch (error) {
    throw error instanceof RangeError ? refusal(error) : error
  }
}
