/** What a failure of the engine, or of the way to it, means for the operation. @module */

import { require } from '../../require.js'
import { StoreError } from '../item-store.js'

const { ClientClosedError, ClientOfflineError, ErrorReply }: typeof import('@redis/client') =
  require('@redis/client')

/** Whether a command changes items. */
export type Purpose = 'read' | 'change'

/** The command was not sent. */
export function notReached(purpose: Purpose, cause: unknown): StoreError {
  return unavailable('The store cannot be reached', purpose, 'nothing has changed', cause)
}

/** @param error what sending a command and waiting for its answer threw. */
export function storeError(error: unknown, purpose: Purpose): StoreError {
  if (error instanceof ClientOfflineError || error instanceof ClientClosedError) {
    return notReached(purpose, error)
  }
  if (!(error instanceof ErrorReply)) {
    const unknown = 'it is unknown whether the change took effect'
    return unavailable('The store did not answer in time', purpose, unknown, error)
  }
  // Older engines put the name of a script's error behind their own words.
  if (/\bOOM\b/.test(error.message)) {
    return new StoreError('STORE_FULL', 'The store is full', { cause: error })
  }
  return unavailable('The store refuses this at present', purpose, 'nothing has changed', error)
}

function unavailable(
  message: string,
  purpose: Purpose,
  outcome: string,
  cause: unknown,
): StoreError {
  const text = purpose === 'read' ? message : `${message}; ${outcome}`
  return new StoreError('STORE_UNAVAILABLE', text, { cause })
}
