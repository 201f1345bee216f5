/** Splits work into slices of less than a millisecond, so that other requests can run between slices. @module */

/** Work in slices that end with a `yield`. `'waiting'` means that it must wait for an event. */
export type Slices<T> = Generator<'waiting' | undefined, T, void>

export const sliceBytes = 512 * 1024

/** Does all of the work without a pause. It must never yield `'waiting'`. */
export function runToEnd<T>(work: Slices<T>): T {
  for (;;) {
    const { done, value } = work.next()
    if (done) return value
  }
}

export function* copied(source: Buffer, target: Buffer, at: number): Slices<number> {
  for (let start = 0; start < source.length; start += sliceBytes) {
    if (start > 0) yield
    source.copy(target, at + start, start, start + sliceBytes)
  }
  return at + source.length
}
