/** Converts errors of Redis servers and connections for callers of the store, and for the log. @module */

import { createRequire } from 'node:module'
import type { Logger } from 'pino'
import { StoreError, StoreMismatchError } from '../item-store.js'

const {
  ClientClosedError,
  ClientOfflineError,
  ErrorReply,
  SocketClosedUnexpectedlyError,
}: typeof import('@redis/client') = createRequire(import.meta.url)('@redis/client') // an `import` of this package would slow the start (process/log.ts)

export type Purpose = 'read' | 'change'

/** The error of a command that was not sent, because there is no connection to the server. */
export class NotConnectedError extends Error {
  constructor(cause: unknown) {
    super('there is no connection to the server', { cause })
  }
}

/** The error of a command that was not sent, because the in-flight limit had no room in time. */
export class BusyError extends Error {}

export class TimeoutError extends Error {}

/** The error for a server that is not used, because the server may not be the primary. */
export class NotPrimaryError extends Error {}

/** Error code of a script that failed after its first change, so that the outcome is unknown. */
export const partlyDone = 'PARTLYDONE'

/** Error code of a script whose key another program has written to. */
export const unexpectedData = 'UNEXPECTED'

/** Error codes which prove that the server has refused the command and changed nothing. */
const refusals = new Set([
  ...['ASK', 'BUSY', 'CLUSTERDOWN', 'LOADING', 'MASTERDOWN', 'MISCONF', 'MOVED', 'NOAUTH'],
  ...['NOPERM', 'NOREPLICAS', 'NOSCRIPT', 'OOM', 'READONLY', 'TRYAGAIN', 'WRONGPASS', 'WRONGTYPE'],
  unexpectedData,
])

/** Matches errors of commands in a script. Before Redis 7, the error code is inside the text. */
const isOfScript = /^ERR Error running script| script: .*, on @user_script:\d+/

/** @param error an error from sending, or an error reply. */
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

/** Returns whether an error proves that nothing changed. After a change, a proxy may send other errors. */
function isRefusal(error: unknown): boolean {
  const message = errorReplyOf(error) ?? partlyDone
  if (message.includes(partlyDone)) return false
  return refusals.has(errorCodeOf(error) ?? '') || isOfScript.test(message)
}

/** @param cause goes to the log only. */
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

export function errorReplyOf(error: unknown): string | undefined {
  return error instanceof ErrorReply ? error.message : undefined
}

/** Returns the first word of an error reply, such as `MOVED`; `undefined` for any other error. */
export function errorCodeOf(error: unknown): string | undefined {
  return errorReplyOf(error)?.split(' ', 1)[0]
}

export function isOfReplica(error: unknown): boolean {
  const message = errorReplyOf(error) ?? ''
  return /^(?:READONLY|MASTERDOWN) |^ERR Error running script.*[ -](?:READONLY|MASTERDOWN) /.test(
    message,
  )
}

/** Matches quoted names of commands, which may be logged. */
const ownCommands =
  /(['`])(auth|select|info|eval|evalsha|hget|hmget|hset|hdel|hlen|hstrlen|hscan|sort|zadd|cluster(?:\|slots)?|asking|sentinel|psubscribe)\1/gi

/** Returns an error that may be logged, without quotations of a password or an item. */
export function causeOf(error: unknown): unknown {
  return error instanceof ErrorReply ? new Error(withoutQuotations(error.message)) : error
}

/** Cuts a text at the first quotation or brace, because the server may quote a password or an item. */
function withoutQuotations(message: string): string {
  const text = message.replaceAll(ownCommands, '$2')
  const end = text.search(/, with args|(?<!\w)['`]|["{<\r\n]/)
  return end === -1 ? text : text.slice(0, end).trimEnd()
}

/** Returns the error for a failed attempt to connect, with `***` in place of the password. */
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
  return new Error(
    password === '' ? message : message.replaceAll(decodeURIComponent(password), '***'),
  )
}

export interface Reachability {
  lost(error: unknown): void
  found(): void
}

/** Time before the log reports a store as back, in milliseconds. A failover may break new connections. */
export const settlingTime = 3_000

export class ReachabilityLog implements Reachability {
  readonly #log: Pick<Logger, 'info' | 'warn'>
  readonly #onLost: () => void
  /** Servers and causes that have been logged since the store was last reported as back. */
  readonly #logged = new Set<string>()
  #settling: NodeJS.Timeout | undefined

  /** @param onLost called whenever a connection is lost or an attempt to connect fails. */
  constructor(log: Pick<Logger, 'info' | 'warn'>, onLost = () => {}) {
    this.#log = log
    this.#onLost = onLost
  }

  /** @param server host and port of a server in a cluster. */
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

/** Returns a message, or the code if the message is empty, as for a host with several addresses. */
export function reasonOf(error: unknown): string {
  const cause = causeOf(error)
  if (!(cause instanceof Error)) return String(cause)
  return cause.message || ('code' in cause ? String(cause.code) : cause.name)
}
