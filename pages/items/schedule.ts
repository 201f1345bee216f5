/** When the page asks for the list again. @module */

/** In milliseconds. */
const shortestPause = 2_000
const longestPause = 300_000
/**
 * The pause is so many times as long as the latest list took: a twentieth of the time is for asking, more
 * only of lists that take longer than the longest pause allows for.
 */
const pauses = 19

/** The pause of a collection; it doubles with each failure in a row. */
export function pauseAfter(duration: number, failures: number): number {
  const pause = Math.max(shortestPause, duration * pauses) * 2 ** Math.min(failures, 10)
  return Math.min(pause, longestPause)
}
