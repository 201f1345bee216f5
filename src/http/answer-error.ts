/** Turns whatever was thrown into an error response, and logs failures of the service. @module */

import { ApiError, errorBody } from '../interface/errors.js'
import { InvalidItemError } from '../item/item-request.js'
import { StoreError } from '../store/item-store.js'
import { answerJson } from './answer.js'
import type { Exchange } from './exchange.js'

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
