/** What of a request goes to the log: never a token, and nothing of a body. @module */

import type { Logger } from 'pino'
import type { LogFailure } from '../http/answer-error.js'
import { type Exchange, pathOf } from '../http/exchange.js'
import type { ApiError, ErrorCode } from '../interface/errors.js'

/** W3C Trace Context, version 00 and those to come (§3.2). */
const traceparent = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}(?:-[\w-]*)?$/

/** Lines on requests that were refused because of a limit come no more often, in milliseconds. */
const excessInterval = 1_000

/** Logs a line for every request whose answer was sent. */
export function createRequestLog(log: Logger, level: 'info' | 'debug') {
  return function logRequest(exchange: Exchange): void {
    const { request, response, startedAt, token, errorCode } = exchange
    const { statusCode } = response
    log[level](
      {
        ...requestFields(exchange, statusCode, errorCode),
        ms: Math.round((performance.now() - startedAt) * 1000) / 1000,
        client: request.socket.remoteAddress,
        sub: token?.sub,
      },
      'answered',
    )
  }
}

/** Logs a line for every request that the service failed to serve, with the cause. */
export function createFailureLog(log: Logger): LogFailure {
  let lastExcessAt = Number.NEGATIVE_INFINITY
  /** Refused because of a limit since the last line on that. */
  let refused = 0

  return function logFailure(exchange, error): void {
    const { message, status, code, excess } = error
    const fields = { ...requestFields(exchange, status, code), ...causeOf(error) }
    if (excess === undefined) {
      log.error(fields, message)
      return
    }
    refused += 1
    if (performance.now() - lastExcessAt < excessInterval) return
    log.error({ ...fields, ...excess, refused }, message)
    lastExcessAt = performance.now()
    refused = 0
  }
}

/** The fields by which a request is found, and told from others. */
function requestFields(exchange: Exchange, status: number, errorCode: ErrorCode | undefined) {
  const { request, sessionId } = exchange
  const { traceparent: given } = request.headers
  return {
    session_id: sessionId,
    traceparent: typeof given === 'string' && traceparent.test(given) ? given : undefined,
    method: request.method,
    path: pathOf(exchange),
    status,
    error_code: errorCode,
  }
}

/** Only what nobody expected needs a stack, which costs more than the answer. */
function causeOf({ code, cause }: ApiError): { err?: unknown; cause?: string } {
  if (code === 'INTERNAL_ERROR') return { err: cause }
  if (cause === undefined) return {}
  return { cause: cause instanceof Error ? cause.message : String(cause) }
}
