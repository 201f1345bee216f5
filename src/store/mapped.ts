/**
 * Memory with a mapping of its own, which the system takes back as soon as it is collected. glibc keeps the
 * holes that blocks of all sizes leave after churn: once it has freed a block of 2 MB that it had mapped, all
 * up to that size come from its heap, and 4 MB at its end are kept (mallopt(3), M_MMAP_THRESHOLD).
 *
 * @module
 */

/** What is this long, in bytes, is worth a mapping: below, its pages cost more time than the rest of a request. */
export const mappedFrom = 32 * 1024

/**
 * Makes zeroed memory by having V8 map it, which it does for whatever can be resized.
 * @param maxLength what `resized` may ask for; it takes no memory until then.
 * @throws {RangeError} when the system has none left.
 */
export function mapped(length: number, maxLength = length): Buffer {
  const Resizable = ArrayBuffer as new (length: number, options: object) => ArrayBuffer // ES2024, Node.js 20
  return Buffer.from(new Resizable(length, { maxByteLength: maxLength }))
}

/**
 * The same memory, longer. @param buffer what `mapped` or `resized` returned.
 * @throws {RangeError} when the system has none left.
 */
export function resized({ buffer }: Buffer, length: number): Buffer {
  const resizable = buffer as ArrayBuffer & { resize(length: number): void } // ES2024, Node.js 20
  resizable.resize(length)
  return Buffer.from(resizable)
}

/** Whether `mapped` has made it. */
export function isMapped({ buffer }: Buffer): boolean {
  return (buffer as ArrayBuffer & { resizable: boolean }).resizable // ES2024, Node.js 20
}

/**
 * From this size on, in bytes, glibc maps memory whatever was freed before, and frees it without mapping
 * less in the future (mallopt(3)). Only what is used of it takes memory.
 */
export const alwaysMapped = 32 * 1024 * 1024

/** How much is given back at a time, in bytes: V8 overwrites it first, which takes a millisecond. */
const releasedAtOnce = 8 * 1024 * 1024

/** Gives memory back that nothing refers to any more. Only what `mapped` has made can be. */
export function released(buffer: Buffer): void {
  if (!isMapped(buffer)) return
  const { length } = resized(buffer, Math.max(0, buffer.length - releasedAtOnce))
  if (length > 0) setImmediate(() => released(Buffer.from(buffer.buffer)))
}
