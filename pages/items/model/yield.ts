/** Splits long work into short slices, so that the page stays responsive. @module */

export type Yield = () => void | Promise<void>

const longestSlice = 6 // in ms, about a third of a frame at 60 frames per second

/** Returns a function that ends a slice of work when due. It throws the reason of an aborted signal. */
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
