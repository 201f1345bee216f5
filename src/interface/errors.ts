/** Everything that can go wrong, and how the client is told (spec §7). @module */

import type { HeaderList } from './headers.js'
import type { ErrorResponse } from './models.js'

interface ErrorKind {
  readonly status: number
  /** When it is answered; for the docs. */
  readonly when: string
  readonly headers?: HeaderList
}

const challenge: HeaderList = ['WWW-Authenticate', 'Bearer'] // spec §5.7, RFC 6750 §3
const retrySoon: HeaderList = ['Retry-After', '1'] // in seconds

/** The catalogue of errors, by `error_code`. */
export const errorKinds = {
  MISSING_TOKEN: {
    status: 401,
    when: 'There is no Authorization header, its scheme is not Bearer, or no token follows (spec §5.6)',
    headers: challenge,
  },
  TOKEN_EXPIRED: {
    status: 401,
    when: 'The `exp` of the token is now or in the past (spec §5.6)',
    headers: challenge,
  },
  INVALID_TOKEN: {
    status: 401,
    when: 'The token is malformed, its signature or algorithm is wrong, or a claim is missing or of the wrong type (spec §5.6)',
    headers: challenge,
  },
  AUTH_NOT_CONFIGURED: {
    status: 503,
    when: '`JWT_SECRET` is not set, or `JWT_ALGORITHM` is not usable (spec §5.5)',
  },
  BAD_REQUEST: {
    status: 400,
    when: 'The request is not valid HTTP/1.1, has no Host or more than one, is a CONNECT, has a URL that cannot be decoded, or a body that is cut short',
  },
  ROUTE_NOT_FOUND: { status: 404, when: 'No endpoint has this path (spec §4)' },
  METHOD_NOT_ALLOWED: {
    status: 405,
    when: 'The path does not support the method; `Allow` lists those that it supports',
  },
  REQUEST_TIMEOUT: { status: 408, when: 'The request did not arrive in time' },
  PAYLOAD_TOO_LARGE: { status: 413, when: 'The body is longer than `MAX_BODY_BYTES`' },
  VALIDATION_ERROR: { status: 422, when: 'The body is not an item request (spec §4.3, §4.5)' },
  HEADERS_TOO_LARGE: {
    status: 431,
    when: 'The head of the request is longer than `MAX_HEADER_BYTES`, or has more than `MAX_HEADER_LINES`',
  },
  INTERNAL_ERROR: { status: 500, when: 'The service failed; the log has the cause' },
  SERVICE_UNAVAILABLE: {
    status: 503,
    when: 'The service is over `MAX_EVENT_LOOP_DELAY`, `MAX_MEMORY_BYTES` or `MAX_PENDING_BYTES`; try again after `Retry-After`',
    headers: retrySoon,
  },
  STORE_UNAVAILABLE: {
    status: 503,
    when: 'The store cannot be reached, or not in time; whether a create, replace or delete took effect is unknown; try again after `Retry-After`',
    headers: retrySoon,
  },
  STORE_FULL: {
    status: 507,
    when: 'There is no room for the item: the items would take more than `MAX_STORE_BYTES` or `MAX_STORE_PAGES`, or memory has run out',
  },
} as const satisfies Record<string, ErrorKind>

export type ErrorCode = keyof typeof errorKinds

/** Whether an error is an outcome of the check of a token. */
export function isTokenError(code: ErrorCode): boolean {
  return errorKinds[code].status === 401 || code === 'AUTH_NOT_CONFIGURED'
}

/** A limit that something is over. */
export interface Excess {
  /** Name of the setting. */
  readonly limit: string
  readonly maximum: number
  /** What there is, in the unit of the setting. */
  readonly value: number
}

export interface ApiErrorOptions extends ErrorOptions {
  /** Why the service refuses what it could do otherwise. */
  readonly excess?: Excess
  /** In the place of those of its kind. */
  readonly headers?: HeaderList
}

/**
 * An error as the client is told of it. The message is its `detail`, and never shows internals; the
 * `cause` is for the log.
 */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  readonly code: ErrorCode | undefined
  readonly headers: HeaderList
  readonly excess: Excess | undefined

  constructor(code: ErrorCode, detail: string, options?: ApiErrorOptions)
  /** Only the 404 of an item has a status and no code (spec §7). */
  constructor(status: 404, detail: string)
  constructor(kind: ErrorCode | 404, detail: string, options?: ApiErrorOptions) {
    super(detail, options)
    const { status, headers: own }: ErrorKind =
      kind === 404 ? { status: 404, when: '' } : errorKinds[kind]
    this.status = status
    this.code = kind === 404 ? undefined : kind
    this.excess = options?.excess
    this.headers = options?.headers ?? own ?? []
  }
}

/** The body of an error (spec §2.5). */
export function errorBody({ message, code }: ApiError, sessionId: string): ErrorResponse {
  return {
    detail: {
      detail: message,
      session_id: sessionId,
      ...(code === undefined ? {} : { error_code: code }),
    },
  }
}
