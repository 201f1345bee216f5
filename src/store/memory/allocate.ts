/** Memory that the system may refuse. @module */

import { StoreError } from '../item-store.js'

/**
 * Makes what takes memory outside of the JavaScript heap. Whoever needs some asks for it before
 * anything changes, so that a refusal leaves the store as it was.
 * @throws {StoreError} `STORE_FULL` where the system has none left.
 */
export function allocate<T>(make: () => T): T {
  try {
    return make()
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new StoreError('STORE_FULL', 'The store has no memory left', { cause: error })
  }
}
