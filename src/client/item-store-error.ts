/** The error of the client, and how it is made from a response. @module */

import type { ErrorCode } from '../interface/errors.js'
import type { ErrorDetail, ErrorResponse } from '../interface/models.js'

/**
 * Codes of errors that the client finds itself:
 *
 * - `NOT_CONNECTED`: there was no connection, so that nothing was sent. Only Node.js tells.
 * - `CONNECTION_LOST`: the request failed, and no more is known: what it asked for may have happened or
 *   not. In a browser, a service that is not there looks the same.
 * - `TIMEOUT`: the service did not answer in time; it may have done what it was asked for.
 * - `INVALID_RESPONSE`: what answered is not an item store; check `baseUrl`.
 */
export type ClientErrorCode = 'NOT_CONNECTED' | 'CONNECTION_LOST' | 'TIMEOUT' | 'INVALID_RESPONSE'

export interface ItemStoreErrorOptions extends ErrorOptions {
  readonly code?: string | undefined
  /** What the service answered, if it did. */
  readonly response?: Response | undefined
  readonly sessionId?: string | undefined
}

/** The service refused a request, or could not be asked. `message` says why, in words for people. */
export class ItemStoreError extends Error {
  override readonly name = 'ItemStoreError'
  /** HTTP status; `undefined` without a response. */
  readonly status: number | undefined
  /**
   * What is wrong, for programs: a code of the service (spec §7) or one of the client's own. The 404 of
   * an item has none.
   */
  readonly code: ErrorCode | ClientErrorCode | (string & Record<never, never>) | undefined
  /** Identifies the request in the log of the service (spec §1.4); `undefined` without a response. */
  readonly sessionId: string | undefined
  /** Seconds after which the service asks to try again, if it does (RFC 9110 §10.2.3). */
  readonly retryAfter: number | undefined

  constructor(message: string, { code, response, sessionId, ...options }: ItemStoreErrorOptions) {
    super(message, options)
    this.status = response?.status
    this.code = code
    this.sessionId = sessionId ?? response?.headers.get('x-session-id') ?? undefined
    this.retryAfter = secondsOf(response?.headers.get('retry-after'))
  }
}

/**
 * The error that a response tells of.
 * @param text its body; one in another form than spec §7 comes from something between.
 */
export function refusal(response: Response, text: string): ItemStoreError {
  const { detail, error_code: code, session_id: sessionId } = detailOf(text)
  return detail === undefined
    ? invalidResponse(response)
    : new ItemStoreError(detail, { response, code, sessionId })
}

/** What answered is no item store. */
export function invalidResponse(response: Response): ItemStoreError {
  const { status, url } = response
  return new ItemStoreError(
    `${url || 'baseUrl'} gave a response (status ${status}) that is not an item store's`,
    { response, code: 'INVALID_RESPONSE' },
  )
}

function detailOf(text: string): Partial<ErrorDetail> {
  const { detail }: { detail?: ErrorResponse['detail'] | string } = objectOf(text)
  // Frameworks that others build item stores with have errors of their own, with a plain text.
  return typeof detail === 'string' ? { detail } : (detail ?? {})
}

/** The object that a JSON text has; an empty one when it is no JSON, or no object. */
export function objectOf(text: string): object {
  try {
    return Object(JSON.parse(text))
  } catch {
    return {}
  }
}

/** Seconds of a `Retry-After`, which has a number or a date. */
function secondsOf(value: string | null | undefined): number | undefined {
  if (!value) return undefined
  const seconds = /^\d+$/.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1000
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds)
}
