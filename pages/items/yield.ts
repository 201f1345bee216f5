/** Long work in short slices, so that the page stays responsive. @module */

/** Yields to the browser if the current slice has lasted long enough. */
export type Yield = () => void | Promise<void>

/** Longest slice: a third of the time between two frames at 60 a second, in milliseconds. */
const longestSlice = 6

/** @param signal ends the work with its reason. */
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
