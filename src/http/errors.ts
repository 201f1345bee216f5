/** Everything that can go wrong, and how the client is told (spec §7). @module */

import type { FastifyReply } from 'fastify'
import type { Logger } from 'pino'
import { TokenError } from '../auth/token.js'
import { InvalidItemError } from '../item/item-request.js'
import { StoreError } from '../store/item-store.js'
import { answerJson, type HeaderList } from './answer.js'
import type { ErrorResponse } from './models.js'
import { requestFields } from './request-log.js'

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
    when: 'No Authorization header, its scheme is not Bearer, or no token follows (spec §5.6)',
    headers: challenge,
  },
  TOKEN_EXPIRED: {
    status: 401,
    when: 'The `exp` of the token is now or in the past (spec §5.6)',
    headers: challenge,
  },
  INVALID_TOKEN: {
    status: 401,
    when: 'Malformed token, wrong signature or algorithm, missing or mistyped claim (spec §5.6)',
    headers: challenge,
  },
  AUTH_NOT_CONFIGURED: {
    status: 503,
    when: '`JWT_SECRET` is not set, or `JWT_ALGORITHM` is not usable (spec §5.5)',
  },
  BAD_REQUEST: {
    status: 400,
    when: 'Not valid HTTP/1, no Host or two, CONNECT, a URL that cannot be decoded, a body broken off',
  },
  ROUTE_NOT_FOUND: { status: 404, when: 'No endpoint has this path (spec §4)' },
  METHOD_NOT_ALLOWED: { status: 405, when: 'The path has no such method; `Allow` lists them' },
  REQUEST_TIMEOUT: { status: 408, when: 'The request did not arrive in time' },
  PAYLOAD_TOO_LARGE: { status: 413, when: 'The body is longer than `MAX_BODY_BYTES`' },
  VALIDATION_ERROR: { status: 422, when: 'The body is not an item request (spec §4.3, §4.5)' },
  HEADERS_TOO_LARGE: {
    status: 431,
    when: 'The head of the request is longer than `MAX_HEADER_BYTES`, or has more than `MAX_HEADER_LINES`',
  },
  INTERNAL_ERROR: { status: 500, when: 'A fault of the service; the log has its cause' },
  SERVICE_UNAVAILABLE: {
    status: 503,
    when: 'The service is past `MAX_EVENT_LOOP_DELAY`, `MAX_MEMORY_BYTES` or `MAX_PENDING_BYTES`; try again after `Retry-After`',
    headers: retrySoon,
  },
  STORE_UNAVAILABLE: {
    status: 503,
    when: 'The store cannot be reached, or not in time; whether a create, replace or delete happened is unknown. Try again after `Retry-After`',
    headers: retrySoon,
  },
  STORE_FULL: { status: 507, when: 'The items would take more than `MAX_STORE_BYTES`' },
} as const satisfies Record<string, ErrorKind>

export type ErrorCode = keyof typeof errorKinds

declare module 'fastify' {
  interface FastifyRequest {
    /** The code of the error that was answered, for log and metrics. */
    errorCode: ErrorCode | undefined
  }
}

/** Whether an error is an outcome of the check of a token. */
export function isTokenError(code: ErrorCode): boolean {
  return errorKinds[code].status === 401 || code === 'AUTH_NOT_CONFIGURED'
}

/** An error as the client is told of it. The message is its `detail`, and never shows internals. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  readonly code: ErrorCode | undefined
  readonly headers: HeaderList

  constructor(code: ErrorCode, detail: string, headers?: HeaderList)
  /** Only the 404 of an item has a status and no code (spec §7). */
  constructor(status: 404, detail: string)
  constructor(kind: ErrorCode | 404, detail: string, headers?: HeaderList) {
    super(detail)
    const { status, headers: own }: ErrorKind =
      kind === 404 ? { status: 404, when: '' } : errorKinds[kind]
    this.status = status
    this.code = kind === 404 ? undefined : kind
    this.headers = headers ?? own ?? []
  }
}

/** @param id as the client wrote it (spec §7: the text contains the requested id). */
export function itemNotFound(id: string): ApiError {
  return new ApiError(404, `Item ${id} not found`)
}

/** The body of an error (spec §2.5). */
export function errorBody(error: ApiError, sessionId: string): ErrorResponse {
  return {
    detail: {
      detail: error.message,
      session_id: sessionId,
      ...(error.code === undefined ? {} : { error_code: error.code }),
    },
  }
}

/** Answers with whatever was thrown, and logs what the operator must know. */
export function answerError(reply: FastifyReply, thrown: unknown, log: Logger): void {
  const error = toApiError(thrown)
  const { request } = reply
  request.errorCode = error.code
  if (error.status >= 500) {
    // Of its own errors the service knows where they come from; a stack costs more than the answer.
    const cause = thrown === error ? {} : { err: thrown }
    log.error({ ...requestFields(request), ...cause }, error.message)
  }
  // The answer has begun, or nobody is there to read it: all that is left is to break it off.
  if (reply.raw.headersSent || reply.raw.destroyed) {
    reply.raw.destroy()
    return
  }
  answerJson(reply, error.status, errorBody(error, request.id), error.headers)
}

function toApiError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown
  if (thrown instanceof InvalidItemError) return new ApiError('VALIDATION_ERROR', thrown.message)
  if (thrown instanceof StoreError) return new ApiError(thrown.code, thrown.message)
  if (thrown instanceof TokenError) {
    return thrown.code === 'AUTH_NOT_CONFIGURED'
      ? new ApiError(thrown.code, 'The service has no usable JWT_SECRET or JWT_ALGORITHM')
      : new ApiError(thrown.code, thrown.message)
  }
  return new ApiError('INTERNAL_ERROR', 'The service failed to answer this request')
}
