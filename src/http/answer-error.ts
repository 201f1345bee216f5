/** Error responses: to whatever was thrown, and to what the listener refuses. @module */

import { ApiError, type ErrorCode, errorBody } from '../interface/errors.js'
import { InvalidItemError } from '../item/item-request.js'
import { newUuid } from '../item/uuid.js'
import type { Refusal, RefusalResponse } from '../listener/refusal.js'
import { StoreError } from '../store/item-store.js'
import { answerJson, jsonHead } from './answer.js'
import type { Exchange } from './exchange.js'

/** The errors that the listener's refusals are (spec §7). */
const refusals: Readonly<Record<Refusal, readonly [ErrorCode, string]>> = {
  malformed: ['BAD_REQUEST', 'The request is not valid HTTP/1.1'],
  unsupportedVersion: ['BAD_REQUEST', 'The HTTP version must be 1.1 or 1.0'],
  missingHost: ['BAD_REQUEST', 'The Host header is missing'],
  invalidHost: ['BAD_REQUEST', 'The Host header must be one host with an optional port'],
  unsupportedTransferEncoding: ['BAD_REQUEST', 'The only Transfer-Encoding supported is chunked'],
  transferEncodingInHttp10: ['BAD_REQUEST', 'HTTP/1.0 has no Transfer-Encoding'],
  connect: ['BAD_REQUEST', 'CONNECT is not supported'],
  headTooLarge: ['HEADERS_TOO_LARGE', 'The request head is too large'],
  tooManyHeaderLines: ['HEADERS_TOO_LARGE', 'The request has too many header lines'],
  requestTimeout: ['REQUEST_TIMEOUT', 'The request did not arrive in time'],
}

/** Logs an error with a status of 500 or above. */
export type LogFailure = (exchange: Exchange, error: ApiError) => void

export function answerError(exchange: Exchange, thrown: unknown, logFailure: LogFailure): void {
  const error = toApiError(thrown)
  const { connection, response, sessionId } = exchange
  exchange.errorCode = error.code
  if (error.status >= 500) logFailure(exchange, error)
  // A response that has begun can only be aborted.
  if (connection.state === 'responding') response.destroy()
  else answerJson(exchange, error.status, errorBody(error, sessionId), error.headers)
}

/** The response to a request that never reached a route. */
export function refusalResponse(refusal: Refusal): RefusalResponse {
  const error = new ApiError(...refusals[refusal])
  const sessionId = newUuid()
  const body = JSON.stringify(errorBody(error, sessionId))
  const headers = jsonHead(sessionId, Buffer.byteLength(body), error.headers)
  return { status: error.status, headers, body }
}

function toApiError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown
  if (thrown instanceof InvalidItemError) return new ApiError('VALIDATION_ERROR', thrown.message)
  if (thrown instanceof StoreError) {
    return new ApiError(thrown.code, thrown.message, { cause: thrown.cause })
  }
  return new ApiError('INTERNAL_ERROR', 'An internal error occurred', {
    cause: thrown,
  })
}
