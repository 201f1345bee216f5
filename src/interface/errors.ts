/** The catalogue of errors, and the format in which clients get them (spec §7). @module */

import type { ErrorResponse } from './models.js'
import type { HeaderList } from './paths.js'

export interface ErrorKind {
  readonly status: number
  readonly when: string // the error occurs, for the documentation
  readonly headers?: HeaderList
}

const challenge: HeaderList = ['WWW-Authenticate', 'Bearer'] // spec §5.7, RFC 6750 §3
const retrySoon: HeaderList = ['Retry-After', '1'] // in seconds

/** Errors by `error_code` (spec §7), except `itemNotFound`, which clients get without a code. */
export const errorKinds = {
  MISSING_TOKEN: {
    status: 401,
    when: 'There is no `Authorization` header, its scheme is not Bearer, or no token follows',
    headers: challenge,
  },
  TOKEN_EXPIRED: {
    status: 401,
    when: 'The token has expired: its `exp` is not in the future',
    headers: challenge,
  },
  INVALID_TOKEN: {
    status: 401,
    when: 'The token is malformed, wrongly signed, of another algorithm, not valid yet, or lacks a required claim',
    headers: challenge,
  },
  AUTH_NOT_CONFIGURED: {
    status: 503,
    when: '`JWT_SECRET` is not set, or `JWT_ALGORITHM` is not supported',
  },
  BAD_REQUEST: {
    status: 400,
    when: 'The request is not valid HTTP/1.1, its `Host` or path is invalid, its body was cut short, or a condition or `Idempotency-Key` is malformed',
  },
  ROUTE_NOT_FOUND: { status: 404, when: 'No endpoint has this path' },
  METHOD_NOT_ALLOWED: {
    status: 405,
    when: 'The endpoint does not have this method; `Allow` lists those it has',
  },
  REQUEST_TIMEOUT: {
    status: 408,
    when: 'The request did not arrive completely within `REQUEST_TIMEOUT`',
  },
  IDEMPOTENCY_CONFLICT: {
    status: 409,
    when: 'The `Idempotency-Key` belongs to an item with another text. `Location` has its path',
  },
  PRECONDITION_FAILED: {
    status: 412,
    when: 'The item or list does not meet `If-Match` or `If-None-Match`. `ETag` has its current tag',
  },
  PAYLOAD_TOO_LARGE: {
    status: 413,
    when: 'The body is larger than `MAX_BODY_BYTES`',
  },
  VALIDATION_ERROR: {
    status: 422,
    when: 'The body is not a valid item request, its `Content-Type` is not JSON, or it has a `Content-Encoding`; or the `project_id` of a list is invalid',
  },
  HEADERS_TOO_LARGE: {
    status: 431,
    when: 'The request head is longer than 16 KiB, or has more than 128 header lines',
  },
  INTERNAL_ERROR: {
    status: 500,
    when: 'An unexpected error in the service; the log has its cause',
  },
  SERVICE_UNAVAILABLE: {
    status: 503,
    when: 'The service is overloaded: its memory exceeds `MAX_MEMORY_BYTES`, its event loop is delayed, or there is no room for another body. Retry after `Retry-After` seconds',
    headers: retrySoon,
  },
  STORE_UNAVAILABLE: {
    status: 503,
    when: 'The store cannot be reached in time. Unless `detail` says that nothing has changed, a change may have taken effect. Retry after `Retry-After` seconds',
    headers: retrySoon,
  },
  STORE_FULL: {
    status: 507,
    when: 'The items would exceed `MAX_STORE_BYTES`, or there is no memory left for them',
  },
  itemNotFound: {
    status: 404,
    when: 'No item has this id: it was deleted, is in another store, or was lost in a restart',
  },
} as const satisfies Record<string, ErrorKind>

export type ErrorName = keyof typeof errorKinds
export type ErrorCode = Exclude<ErrorName, 'itemNotFound'>

export function isTokenError(code: ErrorCode): boolean {
  return errorKinds[code].status === 401 || code === 'AUTH_NOT_CONFIGURED'
}

/** Options of an error. Its `headers` replace those in `errorKinds`. */
type ApiErrorOptions = Partial<Pick<ApiError, 'exceeded' | 'headers'>> & {
  readonly cause?: unknown
}

/** An error to send, with its message as `detail`. The `cause` appears only in the log. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  readonly code: ErrorCode | undefined
  readonly headers: HeaderList
  readonly exceeded: Readonly<{ limit: string; maximum: number; value: number }> | undefined

  constructor(kind: ErrorName, detail: string, options: ApiErrorOptions = {}) {
    super(detail, options)
    const { status, headers = [] }: ErrorKind = errorKinds[kind]
    this.status = status
    this.code = kind === 'itemNotFound' ? undefined : kind
    this.exceeded = options.exceeded
    this.headers = options.headers ?? headers
  }
}

/** Only `/control/`, which the OpenAPI document leaves out, has the code `SHARED_STORE`. */
type ErrorText = Pick<Error, 'message'> & { readonly code?: ErrorCode | 'SHARED_STORE' | undefined }

export function errorBody({ message, code }: ErrorText, sessionId: string): ErrorResponse {
  return { detail: { detail: message, session_id: sessionId, error_code: code } }
}
