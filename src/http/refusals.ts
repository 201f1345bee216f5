/** The listener's refusals, as responses in the shape of the interface (spec §7). @module */

import { ApiError, type ErrorCode, errorBody } from '../interface/errors.js'
import { newUuid } from '../item/uuid.js'
import type { Refusal, RefusalResponse } from '../listener/refusal.js'
import { jsonHead } from './answer.js'

const errors: Readonly<Record<Refusal, readonly [ErrorCode, string]>> = {
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

/** The response to a request that never reached a route. */
export function refusalResponse(refusal: Refusal): RefusalResponse {
  const error = new ApiError(...errors[refusal])
  const sessionId = newUuid()
  const body = JSON.stringify(errorBody(error, sessionId))
  const headers = jsonHead(sessionId, Buffer.byteLength(body), error.headers)
  return { status: error.status, headers, body }
}
