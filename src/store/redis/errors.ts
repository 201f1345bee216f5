/** Errors of servers and connections: what the callers of the store and the log are told. @module */

import { createRequire } from 'node:module'
import type { Logger } from 'pino'
import { StoreError, StoreMismatchError } from '../item-store.js'

const {
  ClientClosedError,
  ClientOfflineError,
  ErrorReply,
  SocketClosedUnexpectedlyError,
}: typeof import('@redis/client') = createRequire(import.meta.url)('@redis/client') // as for pino in process/log.ts

/** Whether a command changes items. */
export type Purpose = 'read' | 'change'

/** Nothing was sent, because there is no connection to the server. */
export class NotConnectedError extends Error {
  /** @param cause why there is no connection. */
  constructor(cause: unknown) {
    super('there is no connection to the server', { cause })
  }
}

/** Nothing was sent, because too much was in flight for too long. */
export class BusyError extends Error {}

/** The reply did not come in time. */
export class TimeoutError extends Error {}

/** The server is not used, because it is not the primary, or cannot be known to be. */
export class NotPrimaryError extends Error {}

/** Code of a script's reply after which it is unknown what has changed. */
export const partlyDone = 'PARTLYDONE'

/** Code of a script's reply for a key that another program has written to. */
export const unexpectedData = 'UNEXPECTED'

/** Codes of error replies with which servers refuse a command before they execute it. */
const refusals = new Set([
  ...['ASK', 'BUSY', 'CLUSTERDOWN', 'LOADING', 'MASTERDOWN', 'MISCONF', 'MOVED', 'NOAUTH'],
  ...['NOPERM', 'NOREPLICAS', 'NOSCRIPT', 'OOM', 'READONLY', 'TRYAGAIN', 'WRONGPASS', 'WRONGTYPE'],
  unexpectedData,
])

/** Marks errors of commands in a script; before version 7, the code comes after it. */
const isOfScript = /^ERR Error running script| script: .*, on @user_script:\d+/

/** Returns the error for the caller of the store. @param error thrown by sending a command, or its error reply. */
export function storeError(error: unknown, purpose: Purpose): StoreError {
  const isRefused = isRefusal(error)
  if (isRefused && /\bOOM\b/.test(errorReplyOf(error) ?? '')) {
    return new StoreError('STORE_FULL', 'The store is full', { cause: causeOf(error) })
  }
  if (isRefused) return refused(error, purpose)
  const [message, isUnknown] = failureOf(error)
  const cause = error instanceof NotConnectedError ? (error.cause ?? error) : error
  return unavailable(message, purpose, isUnknown, cause)
}

/** Returns what the caller is told, and whether a change may have taken effect. */
function failureOf(error: unknown): [message: string, isUnknown: boolean] {
  const isUnsent = [NotConnectedError, ClientOfflineError, ClientClosedError].some(
    (kind) => error instanceof kind,
  )
  if (isUnsent) return ['The store cannot be reached', false]
  if (error instanceof BusyError) return ['The store is overloaded', false]
  if (error instanceof StoreMismatchError) return ['The store rejected the request', true]
  if (error instanceof TimeoutError) return ['The store did not respond in time', true]
  if (error instanceof ErrorReply) return ['The store responded with an error', true]
  return ['The connection to the store was lost', true]
}

/** Whether an error reply proves that nothing has changed. Others may come from a proxy, after the execution. */
function isRefusal(error: unknown): boolean {
  const message = errorReplyOf(error) ?? partlyDone
  if (message.includes(partlyDone)) return false
  return refusals.has(errorCodeOf(error) ?? '') || isOfScript.test(message)
}

/** Returns the error for a store that can be reached, but rejects the request. @param cause for the log. */
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

/** Returns the text of an error reply; `undefined` for any other error. */
export function errorReplyOf(error: unknown): string | undefined {
  return error instanceof ErrorReply ? error.message : undefined
}

/** Returns the first word of an error reply, such as `MOVED`; `undefined` for any other error. */
export function errorCodeOf(error: unknown): string | undefined {
  return errorReplyOf(error)?.split(' ', 1)[0]
}

/** Whether a server refuses a command, or one in a script, because it is a replica. */
export function isOfReplica(error: unknown): boolean {
  const message = errorReplyOf(error) ?? ''
  return /^(?:READONLY|MASTERDOWN) |^ERR Error running script.*[ -](?:READONLY|MASTERDOWN) /.test(
    message,
  )
}

/** Quotations that may be logged: the commands of the store. */
const ownCommands =
  /(['`])(auth|select|info|eval|evalsha|hget|hmget|hset|hdel|hlen|hstrlen|hscan|sort|zadd|cluster(?:\|slots)?|asking|sentinel|psubscribe)\1/gi

/** Returns the error as it may be logged. */
export function causeOf(error: unknown): unknown {
  return error instanceof ErrorReply ? new Error(withoutQuotations(error.message)) : error
}

/**
 * Cuts an error reply at the first quotation or brace: it may quote a command with a password or an item, which
 * begins with a brace.
 */
function withoutQuotations(message: string): string {
  const text = message.replaceAll(ownCommands, '$2')
  const end = text.search(/, with args|(?<!\w)['`]|["{<\r\n]/)
  return end === -1 ? text : text.slice(0, end).trimEnd()
}

/** Returns why a connection could not be opened, without the password, which the server may have repeated. */
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

export interface Reachability {
  /** Called when the connection to a server is lost, or an attempt to connect has failed. */
  lost(error: unknown): void
  /** Called when the connection to a server has been made. */
  found(): void
}

/**
 * Time without a further loss until the store counts as back, in milliseconds: while a replica takes over, the
 * servers of a cluster may disagree for a moment.
 */
export const settlingTime = 3_000

/** Logs a line when the store is lost, one for each further cause, and one when it is back. */
export class ReachabilityLog implements Reachability {
  readonly #log: Pick<Logger, 'info' | 'warn'>
  readonly #onLost: () => void
  /** Servers and causes that have been logged since the store was back. */
  readonly #logged = new Set<string>()
  /** Runs since a server was found. */
  #settling: NodeJS.Timeout | undefined

  /** @param onLost called each time that a connection is lost or cannot be made. */
  constructor(log: Pick<Logger, 'info' | 'warn'>, onLost = () => {}) {
    this.#log = log
    this.#onLost = onLost
  }

  /** @param server host and port of the lost server of a cluster. */
  lost(error: unknown, server?: string): void {
    this.#onLost()
    clearTimeout(this.#settling)
    this.#settling = undefined
    const cause = reasonOf(error instanceof NotConnectedError ? error.cause : error)
    const line = `${server} ${cause}`
    if (this.#logged.has(line)) return
    const still = this.#logged.size > 0 ? 'still ' : ''
    this.#logged.add(line)
    this.#log.warn({ server, cause }, `the store ${still}cannot be reached`)
  }

  found(): void {
    if (this.#logged.size === 0) return
    this.#settling ??= setTimeout(() => {
      this.#settling = undefined
      this.#logged.clear()
      this.#log.info('the store can be reached again')
    }, settlingTime).unref()
  }
}

/** Returns a text about an error for the log: its code if it has no message, as for a host with several addresses. */
export function reasonOf(error: unknown): string {
  const cause = causeOf(error)
  if (!(cause instanceof Error)) return String(cause)
  return cause.message || ('code' in cause ? String(cause.code) : cause.name)
}
