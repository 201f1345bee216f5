/** Changes that depend on what is there: begun again as long as others are faster. @module */

import { hasCode } from './item-store-error.js'
import { backoff, type RetryLimits, retryDelay } from './retry.js'

/** 16 clients that change one item without a pause need up to 22, and 64 of them up to 47. */
const mostAttempts = 100

/**
 * Makes a change.
 * @param make what the state is to become; `undefined` for no change.
 * @param write throws `PRECONDITION_FAILED` if the state is another one meanwhile.
 * @param isOnce whether not to begin again when the outcome of a write is unknown.
 * @param sleep waits for so many milliseconds.
 * @returns the state after it.
 */
export async function makeChange<State, Data>(
  read: () => Promise<State>,
  make: (state: State) => Promise<Data | undefined>,
  write: (data: Data, state: State) => Promise<State>,
  isOnce: boolean,
  limits: RetryLimits,
  sleep: (time: number) => Promise<void>,
): Promise<State> {
  for (let attempts = 1, lost = 0; ; attempts += 1) {
    const state = await read()
    const data = await make(state)
    if (data === undefined) return state
    try {
      return await write(data, state)
    } catch (error) {
      const isConflict = hasCode(error, 'PRECONDITION_FAILED') && attempts < mostAttempts
      // Conflicts are over sooner than failures: a tenth of their delays is 20 ms at first.
      const delay = isConflict
        ? backoff({}, attempts) / 10
        : retryDelay(error, isOnce, lost, limits)
      if (delay === undefined) throw error
      if (!isConflict) lost += 1
      await sleep(delay)
    }
  }
}
