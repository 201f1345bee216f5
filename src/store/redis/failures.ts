/** What a failure of the engine, or of the way to it, means for the operation. @module */

import { require } from '../../require.js'
import { StoreError } from '../item-store.js'
import { partlyDone } from './scripts.js'

const { ClientClosedError, ClientOfflineError, ErrorReply }: typeof import('@redis/client') =
  require('@redis/client')

/** Whether a command changes items. */
export type Purpose = 'read' | 'change'

/** There is no connection to the server, so that nothing was sent. */
export class NotConnectedError extends Error {
  /** @param cause why there is none. */
  constructor(cause: unknown) {
    super('there is no connection to the server', { cause })
  }
}

/** There was too much else to do, so that nothing was sent. */
export class BusyError extends Error {}

/** The answer did not come in time. */
export class LateError extends Error {}

/** What a server said instead of an answer, such as `MOVED`; `undefined` for any other failure. */
export function refusalOf(error: unknown): string | undefined {
  return error instanceof ErrorReply ? error.message : undefined
}

/** What servers put in quotes that is known to be no secret: the names of the commands that are used. */
const ownNames =
  /(['`])(auth|select|info|eval|evalsha|hget|hset|hdel|hlen|hstrlen|hscan|unlink|cluster(?:\|slots)?|asking)\1/gi

/**
 * A failure as it may be logged. A server may quote the command that it refuses, with a password or an
 * item: nothing is kept from the first quotation on, nor from the first brace, which an item begins with.
 */
export function causeOf(error: unknown): unknown {
  const refusal = refusalOf(error)?.replaceAll(ownNames, '$2')
  if (refusal === undefined) return error
  const end = refusal.search(/, with args|(?<!\w)['`]|["{<\r\n]/)
  return new Error(end === -1 ? refusal : refusal.slice(0, end).trimEnd())
}

/** @throws {StoreError} for whatever keeps the answer from coming. */
export async function answerOf<T>(sent: Promise<T>, purpose: Purpose): Promise<T> {
  try {
    return await sent
  } catch (error) {
    throw storeError(error, purpose)
  }
}

/** @param error what sending a command and waiting for its answer threw. */
export function storeError(error: unknown, purpose: Purpose): StoreError {
  if (error instanceof StoreError) return error
  if (
    error instanceof NotConnectedError ||
    error instanceof ClientOfflineError ||
    error instanceof ClientClosedError
  ) {
    const { cause = error } = error
    return unavailable('The store cannot be reached', purpose, 'nothing has changed', cause)
  }
  if (error instanceof BusyError) {
    return unavailable('The store has too much to do', purpose, 'nothing has changed', error)
  }
  const refusal = refusalOf(error)
  const unknown = 'it is unknown whether the change took effect'
  if (refusal === undefined) {
    return unavailable('The store did not answer in time', purpose, unknown, error)
  }
  if (refusal.includes(partlyDone)) {
    return unavailable('The store did not end this', purpose, unknown, error)
  }
  // Older engines put the name of a script's error behind their own words.
  if (/\bOOM\b/.test(refusal)) {
    return new StoreError('STORE_FULL', 'The store is full', { cause: causeOf(error) })
  }
  return refused(error, purpose)
}

/** @param cause why the store does not do it, although it could be asked. */
export function refused(cause: unknown, purpose: Purpose = 'read'): StoreError {
  return unavailable('The store refuses this at present', purpose, 'nothing has changed', cause)
}

function unavailable(
  message: string,
  purpose: Purpose,
  outcome: string,
  cause: unknown,
): StoreError {
  const text = purpose === 'read' ? message : `${message}; ${outcome}`
  return new StoreError('STORE_UNAVAILABLE', text, { cause: causeOf(cause) })
}
