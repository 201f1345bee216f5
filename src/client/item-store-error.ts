/** The error of the client, and how it is made from a response. @module */

import type { ErrorCode } from '../interface/errors.js'

/**
 * Codes of errors that the client finds itself:
 *
 * - `NOT_CONNECTED`: there was no connection, so nothing was sent. Only Node.js can tell.
 * - `CONNECTION_LOST`: the request failed, and it is unknown whether it has taken effect. In a browser, a
 *   service that is not running looks the same.
 * - `TIMEOUT`: the service did not answer in time; the request may have taken effect.
 * - `INVALID_RESPONSE`: the response is not from an item store; check `baseUrl`.
 */
export type ClientErrorCode = 'NOT_CONNECTED' | 'CONNECTION_LOST' | 'TIMEOUT' | 'INVALID_RESPONSE'

interface ItemStoreErrorOptions extends ErrorOptions {
  readonly code?: string | undefined
  /** What the service answered, if it did. */
  readonly response?: Response | undefined
  readonly sessionId?: string | undefined
}

/** The service refused a request, or could not be reached. `message` says why, for people to read. */
export class ItemStoreError extends Error {
  override readonly name = 'ItemStoreError'
  /** HTTP status; `undefined` without a response. */
  declare readonly status: number | undefined
  /**
   * What went wrong, for programs: a code of the service (spec §7) or one of the client's own. The 404 of
   * an item has none.
   */
  declare readonly code: ErrorCode | ClientErrorCode | (string & Record<never, never>) | undefined
  /** Identifies the request in the log of the service (spec §1.4); `undefined` without a response. */
  declare readonly sessionId: string | undefined
  /** How many seconds the service asks to wait before trying again, if it does (RFC 9110 §10.2.3). */
  declare readonly retryAfter: number | undefined
  /** The item that a create found in its place (409, interface §4.11). */
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

/**
 * The error that a response reports.
 * @param text its body; one in another form than spec §7 comes from something in between.
 */
export function responseError(response: Response, text: string): ItemStoreError {
  const outer = membersIn(text).detail
  // Frameworks that others build item stores with have errors of their own, with a plain text.
  const own = typeof outer === 'string' ? { detail: outer } : outer
  const { detail, error_code: code, session_id: sessionId } = membersOf(own)
  if (typeof detail !== 'string') return invalidResponse(response)
  return new ItemStoreError(detail, {
    response,
    code: stringOf(code),
    sessionId: stringOf(sessionId),
  })
}

/** The response is not from an item store. @param cause what shows it, if it is not the response as a whole. */
export function invalidResponse(response: Response, cause?: unknown): ItemStoreError {
  const { status, url } = response
  return new ItemStoreError(
    `${url || 'baseUrl'} did not respond like an item store (status ${status})`,
    { response, code: 'INVALID_RESPONSE', cause },
  )
}

/** The caller gave something wrong. */
export function wrong(problem: string): TypeError {
  return new TypeError(`ItemStoreClient: ${problem}`)
}

/** Whether it is an error of the client with this code. */
export function hasCode(error: unknown, code: ErrorCode | ClientErrorCode): boolean {
  return error instanceof ItemStoreError && error.code === code
}

/** The members of the value of a JSON text; none if it is not JSON. */
export function membersIn(text: string): Members {
  try {
    return membersOf(JSON.parse(text))
  } catch {
    return {}
  }
}

/** Members of which any may be missing. */
type Members = Readonly<Record<string, unknown>>

/** The members of a value that came from elsewhere; those of a wrapper, with other names, if it is not an object. */
export function membersOf(value: unknown): Members {
  return Object(value)
}

function stringOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** Seconds of a `Retry-After`, which has a number or a date; `undefined` if that is past. */
function secondsOf(value: string): number | undefined {
  const seconds = /^\d+$/.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1000
  return seconds >= 0 ? seconds : undefined
}
