/** Converts errors of Redis servers and connections for the store's callers and for the log. @module */

import { createRequire } from 'node:module'
import { StoreError, StoreMismatchError } from '../item-store.js'

/** The package `@redis/client`. `import` would slow down startup (process/log.ts). */
export const redis: typeof import('@redis/client') = createRequire(import.meta.url)('@redis/client')
const { ClientClosedError, ClientOfflineError, ErrorReply, SocketClosedUnexpectedlyError } = redis

export class NotConnectedError extends Error {
  constructor(cause: unknown) {
    super('there is no connection to the server', { cause })
  }
}

/** A command was not sent, because the in-flight limit had no room in time. */
export class BusyError extends Error {}

export class TimeoutError extends Error {}

/** A server is not used, because it might not be the primary. */
export class NotPrimaryError extends Error {}

/** Error code of a script that failed after its first change, so that its outcome is unknown. */
export const partlyDone = 'PARTLYDONE'

/** Error code of a script if another program has written to its key. */
export const unexpectedData = 'UNEXPECTED'

/** Error code of a script that found the store's record (see `record.ts`) missing or changed. */
export const otherRecord = 'RECORD'

/** Error codes of refused commands, which have changed nothing. */
const refusals = new Set([
  ...['ASK', 'BUSY', 'CLUSTERDOWN', 'LOADING', 'MASTERDOWN', 'MISCONF', 'MOVED', 'NOAUTH'],
  ...['NOPERM', 'NOREPLICAS', 'NOSCRIPT', 'OOM', 'READONLY', 'TRYAGAIN', 'WRONGPASS', 'WRONGTYPE'],
  ...[unexpectedData, otherRecord],
])

/** Matches errors of commands in a script. Before Redis 7, they don't begin with the code. */
const isOfScript = /^ERR Error running script| script: \w*, on @user_script:\d+/

export function storeError(error: unknown): StoreError {
  const reply = errorReplyOf(error) ?? ''
  const isRefusal = refusals.has(errorCodeOf(error) ?? '') || isOfScript.test(reply)
  // Any other error might come from a proxy, after the server has made the change.
  if (!isRefusal || reply.includes(partlyDone)) return unavailable(error, ...failureOf(error))
  if (!/\bOOM\b/.test(reply)) return refused(error)
  return new StoreError('STORE_FULL', 'The store is full', { cause: causeOf(error) })
}

function failureOf(error: unknown): [message: string, isUnknown: boolean] {
  const unsent = [NotConnectedError, ClientOfflineError, ClientClosedError]
  if (unsent.some((kind) => error instanceof kind)) return ['The store cannot be reached', false]
  if (error instanceof BusyError) return ['The store is overloaded', false]
  if (error instanceof StoreMismatchError) return ['The store rejected the request', true]
  if (error instanceof TimeoutError) return ['The store did not respond in time', true]
  if (error instanceof ErrorReply) return ['The store responded with an error', true]
  return ['The connection to the store was lost', true]
}

export function refused(cause: unknown): StoreError {
  return unavailable(cause, 'The store rejected the request', false)
}

function unavailable(cause: unknown, message: string, isOutcomeUnknown: boolean): StoreError {
  return new StoreError('STORE_UNAVAILABLE', message, { cause: causeOf(cause), isOutcomeUnknown })
}

/** Adds to the error of a change whether the change may have taken effect. */
export function changeError({ code, message, cause, isOutcomeUnknown }: StoreError): StoreError {
  if (code === 'STORE_FULL') return new StoreError(code, message, { cause })
  const outcome = isOutcomeUnknown
    ? 'it is unknown whether the change took effect'
    : 'nothing has changed'
  return new StoreError(code, `${message}; ${outcome}`, { cause, isOutcomeUnknown })
}

export function errorReplyOf(error: unknown): string | undefined {
  return error instanceof ErrorReply ? error.message : undefined
}

/** Returns the first word of an error reply, such as `MOVED`; `undefined` for other errors. */
export function errorCodeOf(error: unknown): string | undefined {
  return errorReplyOf(error)?.split(' ', 1)[0]
}

/** Quoted names of the store's own commands, which may be logged. */
const ownCommands =
  /(['`])(auth|select|info|eval|evalsha|hget|hmget|hset|hdel|hlen|hstrlen|hscan|sort|zadd|cluster(?:\|slots)?|asking|sentinel|psubscribe)\1/gi

/** Returns an error for the log, which quotes neither a password nor an item. */
function causeOf(error: unknown): unknown {
  const isWrapper = error instanceof NotConnectedError || error instanceof StoreError
  const cause = isWrapper ? (error.cause ?? error) : error
  return cause instanceof ErrorReply ? new Error(withoutQuotations(cause.message)) : cause
}

/** Cuts a message at the first quotation mark or brace: servers may quote a password or an item. */
function withoutQuotations(message: string): string {
  const text = message.replaceAll(ownCommands, '$2')
  const end = text.search(/, with args|(?<!\w)['`]|["{<\r\n]/)
  return end === -1 ? text : text.slice(0, end).trimEnd()
}

/** Returns the error of an attempt to connect, with `***` in place of the password. */
export function connectErrorOf(error: unknown, url: string): unknown {
  if (!(error instanceof Error)) return error
  const isClosed = 'code' in error && error.code === 'EPIPE'
  if (isClosed || error instanceof SocketClosedUnexpectedlyError) {
    return new Error('the server closed the connection without a reply')
  }
  if (error.message.startsWith('Unknown RESP type')) {
    return new Error('the program at this address does not speak the Redis protocol')
  }
  if (!(error instanceof ErrorReply)) return error
  const message = withoutQuotations(error.message)
  const [, password = ''] = /^[^/]*\/\/[^:@]*:([^@]*)@/.exec(url) ?? []
  if (password === '') return new Error(message)
  return new Error(message.replaceAll(decodeURIComponent(password), '***'))
}

/** Returns an error's message or, if it's empty (as for hosts with several addresses), the error's code. */
export function reasonOf(error: unknown): string {
  const cause = causeOf(error)
  if (!(cause instanceof Error)) return String(cause)
  return cause.message || ('code' in cause ? String(cause.code) : cause.name)
}
