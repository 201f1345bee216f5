/** What is logged about a request: never a token, nor any part of a body. @module */

import type { Logger } from 'pino'
import type { ApiError, ErrorCode } from '../interface/errors.js'
import type { LogFailure } from './answer-error.js'
import type { Exchange } from './exchange.js'

/** W3C Trace Context, version 00 and later ones (§3.2). */
const traceparent = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}(?:-[\w-]*)?$/

/** Minimum time between two lines about requests refused for an exceeded limit, in milliseconds. */
const exceededInterval = 1_000

/** Logs a line for every request whose response was sent. */
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

/** Logs every failure to serve a request, with the cause. */
export function createFailureLog(log: Logger): LogFailure {
  let lastExceededAt = Number.NEGATIVE_INFINITY
  /** Number of requests refused for an exceeded limit since the last such line. */
  let refused = 0

  return function logFailure(exchange, error): void {
    const { message, status, code, exceeded } = error
    const fields = { ...requestFields(exchange, status, code), ...causeOf(error) }
    if (exceeded === undefined) {
      log.error(fields, message)
      return
    }
    refused += 1
    if (performance.now() - lastExceededAt < exceededInterval) return
    log.error({ ...fields, ...exceeded, refused }, message)
    lastExceededAt = performance.now()
    refused = 0
  }
}

/** The fields that identify a request. */
function requestFields(exchange: Exchange, status: number, errorCode: ErrorCode | undefined) {
  const { request, sessionId } = exchange
  const { traceparent: given } = request.headers
  return {
    session_id: sessionId,
    traceparent: typeof given === 'string' && traceparent.test(given) ? given : undefined,
    method: request.method,
    path: exchange.path,
    status,
    error_code: errorCode,
  }
}

/** Only unexpected errors get a stack, since logging it costs more than the response. */
function causeOf({ code, cause }: ApiError): { err?: unknown; cause?: string } {
  if (code === 'INTERNAL_ERROR') return { err: cause }
  if (cause === undefined) return {}
  return { cause: cause instanceof Error ? cause.message : String(cause) }
}
