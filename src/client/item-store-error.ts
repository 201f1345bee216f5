/** The error class of the client, and functions that make errors from responses. @module */

import type { ErrorCode } from '../interface/errors.js'

/**
 * Codes of errors that the client itself finds:
 *
 * - `NOT_CONNECTED`: there was no connection, so nothing was sent. This code exists only on Node.js.
 * - `CONNECTION_LOST`: the request failed, but may have taken effect. In browsers, this code also stands for a missing
 * connection.
 * - `TIMEOUT`: the service did not respond in time, but the request may have taken effect.
 * - `INVALID_RESPONSE`: the response is not from an item store; check `baseUrl`.
 */
export type ClientErrorCode = 'NOT_CONNECTED' | 'CONNECTION_LOST' | 'TIMEOUT' | 'INVALID_RESPONSE'

interface ItemStoreErrorOptions extends ErrorOptions {
  readonly code?: string | undefined
  /** The response of the service; `undefined` if there was none. */
  readonly response?: Response | undefined
  readonly sessionId?: string | undefined
}

/** Thrown if the service rejects a request or cannot be reached. `message` describes the error for people. */
export class ItemStoreError extends Error {
  override readonly name = 'ItemStoreError'
  /** HTTP status; `undefined` without a response. */
  declare readonly status: number | undefined
  /** Error code for programs, from the service (spec §7) or from the client. The 404 for a missing item has no code. */
  declare readonly code: ErrorCode | ClientErrorCode | (string & Record<never, never>) | undefined
  /** Identifies the request in the log of the service (spec §1.4); `undefined` without a response. */
  declare readonly sessionId: string | undefined
  /** Delay before a retry in seconds, if the service sent `Retry-After` (RFC 9110 §10.2.3). */
  declare readonly retryAfter: number | undefined
  /**
   * Id of the item to which the `Idempotency-Key` belongs, if a create failed with `IDEMPOTENCY_CONFLICT` (interface
   * §4.11).
   */
  declare readonly itemId: string | undefined

  constructor(message: string, { code, response, sessionId, ...options }: ItemStoreErrorOptions) {
    super(message, options)
    this.status = response?.status
    this.code = code
    this.sessionId = sessionId ?? response?.headers.get('x-session-id') ?? undefined
    this.retryAfter = secondsOf(response?.headers.get('retry-after') ?? '')
    const isConflict = code === 'IDEMPOTENCY_CONFLICT'
    this.itemId = isConflict ? response?.headers.get('location')?.split('/').at(-1) : undefined
  }
}

/** @param text the body. A body that does not have the format of spec §7 comes from a proxy or another server. */
export function responseError(response: Response, text: string): ItemStoreError {
  const outer = membersIn(text).detail
  // An item store that uses a web framework may send the framework's own errors, whose `detail` is plain text.
  const own = typeof outer === 'string' ? { detail: outer } : outer
  const { detail, error_code: code, session_id: sessionId } = membersOf(own)
  if (typeof detail !== 'string') return invalidResponse(response)
  return new ItemStoreError(detail, {
    response,
    code: stringOf(code),
    sessionId: stringOf(sessionId),
  })
}

/**
 * Returns the error for a response that is not from an item store. @param cause the error that was thrown when the
 * response was parsed.
 */
export function invalidResponse(response: Response, cause?: unknown): ItemStoreError {
  const { status, url } = response
  return new ItemStoreError(
    `${url || 'baseUrl'} did not respond like an item store (status ${status})`,
    { response, code: 'INVALID_RESPONSE', cause },
  )
}

/** Returns the error for a wrong option or argument. */
export function wrong(problem: string): TypeError {
  return new TypeError(`ItemStoreClient: ${problem}`)
}

export function hasCode(error: unknown, code: ErrorCode | ClientErrorCode): boolean {
  return error instanceof ItemStoreError && error.code === code
}

/** Returns the members of a JSON object, or an empty object if the text is not JSON. */
export function membersIn(text: string): Members {
  try {
    return membersOf(JSON.parse(text))
  } catch {
    return {}
  }
}

type Members = Readonly<Record<string, unknown>>

/** Returns a value of any type as an object, so that its members can be read. A primitive becomes a wrapper object. */
export function membersOf(value: unknown): Members {
  return Object(value)
}

function stringOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/**
 * Returns how many seconds to wait according to `Retry-After`, which is a number or a date; `undefined` if the date is
 * in the past or the value is invalid.
 */
function secondsOf(value: string): number | undefined {
  const seconds = /^\d+$/.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1000
  return seconds >= 0 ? seconds : undefined
}
