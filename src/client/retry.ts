/** Which errors are worth another attempt, and when. @module */

import { ItemStoreError } from './item-store-error.js'

// In milliseconds. A service that starts again is back within the first two attempts.
const firstDelay = 200
const longestDelay = 5_000

/**
 * How long to wait before the same request is sent again, in milliseconds; `undefined` for not again.
 * @param isCreate another create would make another item, unless this one was never sent.
 * @param attempt number of attempts that were made after the first one.
 */
export function retryDelay(error: unknown, isCreate: boolean, attempt: number): number | undefined {
  if (!(error instanceof ItemStoreError)) return undefined
  const { code, status, retryAfter = 0 } = error
  const isUnsent = code === 'NOT_CONNECTED'
  if (!isUnsent && (isCreate || (code !== 'CONNECTION_LOST' && status !== 503))) return undefined
  const backoff = Math.min(longestDelay, firstDelay * 2 ** attempt)
  // Half of it by chance, so that clients that failed together do not come back together.
  return retryAfter * 1000 + (backoff * (1 + Math.random())) / 2
}

/** Whether a replace or delete may have taken effect although it failed (spec §7.3). */
export function isUncertain(error: unknown): boolean {
  return (
    error instanceof ItemStoreError &&
    (error.code === 'CONNECTION_LOST' || error.code === 'STORE_UNAVAILABLE')
  )
}
