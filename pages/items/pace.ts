/** Long work in short pieces, so that the page answers to keys and scrolls meanwhile. @module */

/** Waits for the page if the work has taken its share of time since it last did. */
export type Pace = () => void | Promise<void>

/** A third of the time between two frames at 60 a second, in milliseconds. */
const share = 6

/** @param signal ends the work with its reason. */
export function startPace(signal?: AbortSignal): Pace {
  let since = performance.now()
  return () => {
    signal?.throwIfAborted()
    if (performance.now() - since < share) return
    return new Promise((resolve, reject) => {
      setTimeout(() => {
        since = performance.now()
        if (signal?.aborted) reject(signal.reason)
        else resolve()
      })
    })
  }
}
