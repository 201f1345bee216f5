/** The error class of the client, and functions that make errors from responses. @module */

import type { ErrorCode } from '../interface/errors.js'

/**
 * Codes for errors that the client itself detects:
 * - `NOT_CONNECTED` (only on Node.js): nothing was sent.
 * - `CONNECTION_LOST` or `TIMEOUT`: the request may have taken effect.
 * - `INVALID_RESPONSE`: the response is not from an item store; check `baseUrl`.
 */
export type ClientErrorCode = 'NOT_CONNECTED' | 'CONNECTION_LOST' | 'TIMEOUT' | 'INVALID_RESPONSE'

interface ItemStoreErrorOptions {
  readonly cause?: unknown
  readonly code?: string | undefined
  readonly response?: Response | undefined
  readonly sessionId?: string | undefined
}

/** Thrown if the service rejects a request or can't be reached. The `message` is for people. */
export class ItemStoreError extends Error {
  override readonly name = 'ItemStoreError'
  declare readonly status: number | undefined
  /** Error code from the service (spec §7) or the client. The 404 of a missing item has none. */
  declare readonly code: ErrorCode | ClientErrorCode | (string & Record<never, never>) | undefined
  /** Id of the request in the service's log (spec §1.4); `undefined` if there was no response. */
  declare readonly sessionId: string | undefined
  /** Time to wait before a retry, in seconds, from `Retry-After` (RFC 9110 §10.2.3). */
  declare readonly retryAfter: number | undefined
  /** Id of the item that an earlier request created with the same `Idempotency-Key` (interface §4.11). */
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

/** @param text body of the response. One from a proxy may not have the format of spec §7. */
export function responseError(response: Response, text: string): ItemStoreError {
  const outer = membersIn(text).detail
  // Many web frameworks send `detail` as plain text.
  const own = typeof outer === 'string' ? { detail: outer } : outer
  const { detail, error_code: code, session_id: sessionId } = membersOf(own)
  if (typeof detail !== 'string') return invalidResponse(response)
  return new ItemStoreError(detail, {
    response,
    code: stringOf(code),
    sessionId: stringOf(sessionId),
  })
}

export function invalidResponse(response: Response, cause?: unknown): ItemStoreError {
  const { status, url } = response
  return new ItemStoreError(
    `${url || 'baseUrl'} did not respond like an item store (status ${status})`,
    { response, code: 'INVALID_RESPONSE', cause },
  )
}

export function wrong(problem: string): TypeError {
  return new TypeError(`ItemStoreClient: ${problem}`)
}

export function hasCode(error: unknown, code: ErrorCode | ClientErrorCode): boolean {
  return error instanceof ItemStoreError && error.code === code
}

const unknownOutcomes: readonly ItemStoreError['code'][] = [
  'CONNECTION_LOST',
  'TIMEOUT',
  'INVALID_RESPONSE',
  'STORE_UNAVAILABLE',
  'INTERNAL_ERROR',
  undefined, // from another program, such as a proxy
]

/** True if a change may have taken effect although its request failed (interface §7.3). */
export function isOutcomeUnknown(error: unknown): boolean {
  return error instanceof ItemStoreError && unknownOutcomes.includes(error.code)
}

export function membersIn(text: string): Members {
  try {
    return membersOf(JSON.parse(text))
  } catch {
    return {}
  }
}

type Members = Readonly<Record<string, unknown>>

export function membersOf(value: unknown): Members {
  return Object(value)
}

function stringOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** Parses a number of seconds or an HTTP date. Returns `undefined` for a past date or invalid text. */
function secondsOf(value: string): number | undefined {
  const seconds = /^\d+$/.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1000
  return seconds >= 0 ? seconds : undefined
}
