/** The pause before the next attempt to connect, or to read the table of a cluster. @module */

import { setTimeout as delay } from 'node:timers/promises'

/** In milliseconds. */
const shortestPause = 50
/** In milliseconds. */
export const longestPause = 1000

/** Waits, the longer the more attempts have failed, or until the signal comes. */
export async function pauseAfter(failures: number, signal: AbortSignal): Promise<void> {
  const pause = Math.min(longestPause, shortestPause * 2 ** failures)
  // Services that lost the same server do not all come back at the same moment.
  const wait = pause * (0.5 + Math.random() / 2)
  await delay(wait, undefined, { signal }).catch(() => undefined)
}
