/** Work that is done in slices of less than a millisecond, between which other requests can be served. @module */

/**
 * Ends a slice with each `yield`: with `'waiting'` if it cannot go on before something else has happened. Whatever
 * bytes are needed longest are read in pieces of {@link sliceBytes}.
 */
export type Slices<T> = Generator<'waiting' | undefined, T, void>

/** How many bytes are copied, moved or hashed in one slice; memory that is written for the first time costs most. */
export const sliceBytes = 512 * 1024

/** Does the work in one piece. It must not have to wait. */
export function atOnce<T>(work: Slices<T>): T {
  for (;;) {
    const { done, value } = work.next()
    if (done) return value
  }
}

/** Copies bytes. @returns the position in the target after them. */
export function* copied(source: Buffer, target: Buffer, at: number): Slices<number> {
  for (let start = 0; start < source.length; start += sliceBytes) {
    if (start > 0) yield
    source.copy(target, at + start, start, start + sliceBytes)
  }
  return at + source.length
}

/** Whether two buffers have the same bytes. */
export function* areEqual(one: Buffer, other: Buffer): Slices<boolean> {
  if (one.length !== other.length) return false
  for (let start = 0; start < one.length; start += sliceBytes) {
    if (start > 0) yield
    const end = start + sliceBytes
    if (!one.subarray(start, end).equals(other.subarray(start, end))) return false
  }
  return true
}
