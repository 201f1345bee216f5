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

/** The error of a command that was not sent, because the in-flight limit had no room for the command in time. */
export class BusyError extends Error {}

/** The error of a command whose reply did not arrive in time. */
export class TimeoutError extends Error {}

/** The error for a server that is not used, because the server may not be the primary. */
export class NotPrimaryError extends Error {}

/** Error code that a script returns if a command fails after the script's first change. The outcome is then unknown. */
export const partlyDone = 'PARTLYDONE'

/** Error code that a script returns if another program has written to the script's key. */
export const unexpectedData = 'UNEXPECTED'

/** Error codes of replies which prove that the server has refused the command and changed nothing. */
const refusals = new Set([
  ...['ASK', 'BUSY', 'CLUSTERDOWN', 'LOADING', 'MASTERDOWN', 'MISCONF', 'MOVED', 'NOAUTH'],
  ...['NOPERM', 'NOREPLICAS', 'NOSCRIPT', 'OOM', 'READONLY', 'TRYAGAIN', 'WRONGPASS', 'WRONGTYPE'],
  unexpectedData,
])

/** Pattern of error replies for a command in a script. Before Redis 7, the error code is in the middle of the text. */
const isOfScript = /^ERR Error running script| script: .*, on @user_script:\d+/

/** Returns the error for callers of the store. @param error an error from sending a command, or an error reply. */
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

/** Returns a message for callers of the store, and whether a change may have taken effect despite the error. */
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

/** Returns whether an error reply proves that nothing changed. After a change, a proxy may send other errors. */
function isRefusal(error: unknown): boolean {
  const message = errorReplyOf(error) ?? partlyDone
  if (message.includes(partlyDone)) return false
  return refusals.has(errorCodeOf(error) ?? '') || isOfScript.test(message)
}

/** Returns the error for a request that a reachable store rejects. @param cause goes to the log only. */
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

/** Returns whether a server has refused a command or a script, because the server is a replica. */
export function isOfReplica(error: unknown): boolean {
  const message = errorReplyOf(error) ?? ''
  return /^(?:READONLY|MASTERDOWN) |^ERR Error running script.*[ -](?:READONLY|MASTERDOWN) /.test(
    message,
  )
}

/** Matches names of commands that an error reply quotes. These names may be logged. */
const ownCommands =
  /(['`])(auth|select|info|eval|evalsha|hget|hmget|hset|hdel|hlen|hstrlen|hscan|sort|zadd|cluster(?:\|slots)?|asking|sentinel|psubscribe)\1/gi

/** Returns an error that may be logged: without quoted commands, which may contain a password or an item. */
export function causeOf(error: unknown): unknown {
  return error instanceof ErrorReply ? new Error(withoutQuotations(error.message)) : error
}

/**
 * Cuts the text of an error reply at the first quotation or brace. The server may quote a command with a password, or
 * an item. An item begins with a brace.
 */
function withoutQuotations(message: string): string {
  const text = message.replaceAll(ownCommands, '$2')
  const end = text.search(/, with args|(?<!\w)['`]|["{<\r\n]/)
  return end === -1 ? text : text.slice(0, end).trimEnd()
}

/**
 * Returns the error for a failed attempt to connect. If the server repeats the password, the message has `***` instead.
 */
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
  /** Called when the connection to a server is lost, or when an attempt to connect fails. */
  lost(error: unknown): void
  /** Called when a connection to a server has been made. */
  found(): void
}

/**
 * How long the store must stay connected before the log says that the store is back, in milliseconds. While a replica
 * takes over in a cluster, the servers disagree for a moment, and new connections may be lost again.
 */
export const settlingTime = 3_000

/** Logs a warning for each reason why the store cannot be reached, and a line when the store is back. */
export class ReachabilityLog implements Reachability {
  readonly #log: Pick<Logger, 'info' | 'warn'>
  readonly #onLost: () => void
  /** Servers and causes that have been logged since the store was last reported as back. */
  readonly #logged = new Set<string>()
  /** Timer from a new connection until the log reports that the store can be reached again. */
  #settling: NodeJS.Timeout | undefined

  /** @param onLost called whenever a connection is lost or an attempt to connect fails. */
  constructor(log: Pick<Logger, 'info' | 'warn'>, onLost = () => {}) {
    this.#log = log
    this.#onLost = onLost
  }

  /**
   * Logs that the store is lost, unless this cause is logged already.
   * @param server host and port of a server in a cluster.
   */
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

/**
 * Returns an error's message for the log. If the message is empty, as for a host with several addresses, returns the
 * code.
 */
export function reasonOf(error: unknown): string {
  const cause = causeOf(error)
  if (!(cause instanceof Error)) return String(cause)
  return cause.message || ('code' in cause ? String(cause.code) : cause.name)
}
