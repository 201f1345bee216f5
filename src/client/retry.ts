/** Which errors are worth another attempt, and when. @module */

import { ItemStoreError } from './item-store-error.js'

// In milliseconds. A service that restarts is back within the first two retries.
const firstDelay = 200
const longestDelay = 5_000

/**
 * How long to wait before the same request is sent again, in milliseconds; `undefined` for not at all.
 * @param isCreate another create would make another item, unless this one was never sent.
 * @param retries how many retries there have been.
 */
export function retryDelay(error: unknown, isCreate: boolean, retries: number): number | undefined {
  if (!(error instanceof ItemStoreError)) return undefined
  const { code, status, retryAfter = 0 } = error
  const isUnsent = code === 'NOT_CONNECTED'
  if (!isUnsent && (isCreate || (code !== 'CONNECTION_LOST' && status !== 503))) return undefined
  const backoff = Math.min(longestDelay, firstDelay * 2 ** retries)
  // Half of it is random, so that clients that failed together do not come back together.
  return retryAfter * 1000 + (backoff * (1 + Math.random())) / 2
}

const unknownOutcomes = ['CONNECTION_LOST', 'TIMEOUT', 'STORE_UNAVAILABLE', 'INTERNAL_ERROR']

/** Whether a create, replace or delete may have taken effect although it failed (spec §7.3). */
export function isOutcomeUnknown(error: unknown): boolean {
  return error instanceof ItemStoreError && unknownOutcomes.includes(error.code ?? '')
}
