/** Splits long work into short slices, so that the page stays responsive. @module */

export type Yield = () => void | Promise<void>

/** Maximum duration of a slice of work in milliseconds, about a third of a frame at 60 frames per second. */
const longestSlice = 6

/** Returns a function that ends a slice of work when due. It throws the signal's reason once the signal is aborted. */
export function createYield(signal?: AbortSignal): Yield {
  let startedAt = performance.now()
  return () => {
    signal?.throwIfAborted()
    if (performance.now() - startedAt < longestSlice) return
    return new Promise((resolve, reject) => {
      setTimeout(() => {
        startedAt = performance.now()
        if (signal?.aborted) reject(signal.reason)
        else resolve()
      })
    })
  }
}
