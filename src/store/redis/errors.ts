/** What an error of the engine, or of the connection to it, means for the operation. @module */

import { require } from '../../require.js'
import { StoreError, StoreMismatchError } from '../item-store.js'
import { partlyDone, unexpectedData } from './scripts.js'

const {
  ClientClosedError,
  ClientOfflineError,
  ErrorReply,
  SocketClosedUnexpectedlyError,
}: typeof import('@redis/client') = require('@redis/client')

/** Whether a command changes items. */
export type Purpose = 'read' | 'change'

/** There is no connection to the server, so nothing was sent. */
export class NotConnectedError extends Error {
  /** @param cause why there is none. */
  constructor(cause: unknown) {
    super('there is no connection to the server', { cause })
  }
}

/** Too much was in flight for too long, so nothing was sent. */
export class BusyError extends Error {}

/** The reply did not come in time. */
export class TimeoutError extends Error {}

/** The server is not the primary, or cannot be known to be, so it is not used. */
export class NotPrimaryError extends Error {}

/** Codes of the error replies with which servers refuse a command before they execute it. */
const refusals = new Set([
  ...['ASK', 'BUSY', 'CLUSTERDOWN', 'LOADING', 'MASTERDOWN', 'MISCONF', 'MOVED', 'NOAUTH'],
  ...['NOPERM', 'NOREPLICAS', 'NOSCRIPT', 'OOM', 'READONLY', 'TRYAGAIN', 'WRONGPASS', 'WRONGTYPE'],
  unexpectedData,
])

/** How servers mark the errors of commands in a script; before version 7 the code comes after it. */
const isOfScript = /^ERR Error running script| script: .*, on @user_script:\d+/

/** @param error what sending a command and waiting for its reply threw. */
export function storeError(error: unknown, purpose: Purpose): StoreError {
  if (error instanceof NotConnectedError) {
    return unavailable('The store cannot be reached', purpose, false, error.cause ?? error)
  }
  if (error instanceof ClientOfflineError || error instanceof ClientClosedError) {
    return unavailable('The store cannot be reached', purpose, false, error)
  }
  if (error instanceof BusyError) {
    return unavailable('The store is overloaded', purpose, false, error)
  }
  if (error instanceof StoreMismatchError) {
    return unavailable('The store rejected the request', purpose, true, error)
  }
  if (error instanceof TimeoutError) {
    return unavailable('The store did not respond in time', purpose, true, error)
  }
  if (!(error instanceof ErrorReply)) {
    return unavailable('The connection to the store was lost', purpose, true, error)
  }
  if (!isRefusal(error)) {
    return unavailable('The store responded with an error', purpose, true, error)
  }
  if (/\bOOM\b/.test(error.message)) {
    return new StoreError('STORE_FULL', 'The store is full', { cause: causeOf(error) })
  }
  return refused(error, purpose)
}

/** Whether it is known that nothing has changed: a proxy may answer with an error to what was executed. */
function isRefusal(error: Error): boolean {
  if (error.message.includes(partlyDone)) return false
  return refusals.has(errorCodeOf(error) ?? '') || isOfScript.test(error.message)
}

/** @param cause why the store does not do it, although it can be reached. */
export function refused(cause: unknown, purpose: Purpose = 'read'): StoreError {
  return unavailable('The store rejected the request', purpose, false, cause)
}

function unavailable(
  message: string,
  purpose: Purpose,
  isUnknown: boolean,
  cause: unknown,
): StoreError {
  const outcome = isUnknown ? 'it is unknown whether the change took effect' : 'nothing has changed'
  const text = purpose === 'read' ? message : `${message}; ${outcome}`
  const isOutcomeUnknown = purpose === 'change' && isUnknown
  return new StoreError('STORE_UNAVAILABLE', text, { cause: causeOf(cause), isOutcomeUnknown })
}

/** What an error reply says; `undefined` for any other error. */
export function errorReplyOf(error: unknown): string | undefined {
  return error instanceof ErrorReply ? error.message : undefined
}

/** The first word of an error reply, such as `MOVED`; `undefined` for any other error. */
export function errorCodeOf(error: unknown): string | undefined {
  return errorReplyOf(error)?.split(' ', 1)[0]
}

/** Whether a server refuses a command, also one in a script, because it is a replica. */
export function isOfReplica(error: unknown): boolean {
  const message = errorReplyOf(error) ?? ''
  return /^(?:READONLY|MASTERDOWN) |^ERR Error running script.*[ -](?:READONLY|MASTERDOWN) /.test(
    message,
  )
}

/** What error replies quote that is known to be no secret: the commands of the store. */
const ownCommands =
  /(['`])(auth|select|info|eval|evalsha|hget|hmget|hset|hdel|hlen|hstrlen|hscan|sort|zadd|unlink|cluster(?:\|slots)?|asking|sentinel|psubscribe)\1/gi

/** The error as it may be logged. */
export function causeOf(error: unknown): unknown {
  return error instanceof ErrorReply ? new Error(withoutQuotations(error.message)) : error
}

/**
 * An error reply may quote the command, with a password or an item: nothing is kept from the first
 * quotation on, nor from the first brace, with which an item begins.
 */
function withoutQuotations(message: string): string {
  const text = message.replaceAll(ownCommands, '$2')
  const end = text.search(/, with args|(?<!\w)['`]|["{<\r\n]/)
  return end === -1 ? text : text.slice(0, end).trimEnd()
}

/** Why a connection could not be opened, without the password: a server may repeat what it was sent. */
export function connectErrorOf(error: unknown, url: string): unknown {
  if (!(error instanceof Error)) return error
  const isClosed = 'code' in error && error.code === 'EPIPE'
  if (isClosed || error instanceof SocketClosedUnexpectedlyError) {
    return new Error('the server closed the connection without a reply')
  }
  if (error.message.startsWith('Unknown RESP type')) {
    return new Error('what listens there does not speak the Redis protocol')
  }
  if (!(error instanceof ErrorReply)) return error
  const message = withoutQuotations(error.message)
  const [, password = ''] = /^[^/]*\/\/[^:@]*:([^@]*)@/.exec(url) ?? []
  return new Error(
    password === '' ? message : message.replaceAll(decodeURIComponent(password), '***'),
  )
}
