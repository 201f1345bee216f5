/** Which errors are worth another attempt, and when. @module */

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
