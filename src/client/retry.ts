/** Which errors are worth another attempt, and when; updates, which start over while others change the item. @module */

import type { CheckedOptions } from './checks.js'
import { hasCode, ItemStoreError } from './item-store-error.js'

// In milliseconds. A service that restarts is back within the first two retries.
const firstDelay = 200
const longestDelay = 5_000

/** How often, and how late, a request is sent again at most. */
export type RetryLimits = Pick<CheckedOptions, 'retries' | 'timeout'>

/**
 * How long to wait before the same request is sent again, in milliseconds; `undefined` for not at all.
 * @param isOnce whether the request must not take effect twice, so that it is sent again only if it certainly
 * has not.
 * @param retries how many retries there have been.
 */
export function retryDelay(
  error: unknown,
  isOnce: boolean,
  retries: number,
  limits: RetryLimits,
): number | undefined {
  if (!(error instanceof ItemStoreError)) return undefined
  const { code, status = 503 } = error // it has none when there was no response
  if (isOnce ? !isUndone(error) : status !== 503 && code !== 'CONNECTION_LOST') return undefined
  const delay = backoff(error, retries)
  return retries < limits.retries && delay <= limits.timeout ? delay : undefined
}

/** A delay in milliseconds that gets longer, and not before the service's `Retry-After`. */
export function backoff({ retryAfter = 0 }: Partial<ItemStoreError>, retries: number): number {
  const delay = Math.min(longestDelay, firstDelay * 2 ** retries)
  // Half of it is random, so that clients that failed together do not come back together.
  return retryAfter * 1000 + (delay * (1 + Math.random())) / 2
}

/** Whether a request certainly has not taken effect (spec §7.3). */
export function isUndone(error: unknown): boolean {
  return hasCode(error, 'NOT_CONNECTED') || hasCode(error, 'SERVICE_UNAVAILABLE')
}

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
