/** Logs requests and failures, but never a token or any part of a body. @module */

import { types } from 'node:util'
import type { Logger } from 'pino'
import type { ApiError, ErrorCode } from '../interface/errors.js'
import { clearInterval, performance, setInterval } from '../memory/timers.js'
import type { Exchange } from './exchange.js'
import { clientOf } from './forwarded.js'

/** Matches a `traceparent` header of version 00 or later (W3C Trace Context §3.2). */
const traceparent = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}(?:-[\w-]*)?$/
const failureInterval = 1_000 // ms between log lines about failures with the same message

export function createRequestLog(log: Logger, level: 'info' | 'debug') {
  return function logRequest(exchange: Exchange): void {
    const { response, startedAt, token, errorCode } = exchange
    const fields = requestFields(exchange, response.statusCode, errorCode)
    const ms = Math.round((performance.now() - startedAt) * 1000) / 1000
    log[level]({ ...fields, ms, client: clientOf(exchange), sub: token?.sub }, 'answered')
  }
}

/** Logs the first failure with each message at once, and the number of others once per interval. */
export function createFailureLog(log: Logger) {
  const kinds = new Map<string, { count: number; latest: readonly [Exchange, ApiError] }>()
  let timer: NodeJS.Timeout | undefined
  let hasEnded = false

  function write(exchange: Exchange, error: ApiError, count: number): void {
    const { message, status, code, exceeded } = error
    const fields = { ...requestFields(exchange, status, code), ...causeOf(error) }
    log.error({ ...fields, ...exceeded, count }, message)
  }

  function writeCounted(): void {
    for (const [message, kind] of kinds) {
      if (kind.count > 0) write(...kind.latest, kind.count)
      else kinds.delete(message)
      kind.count = 0
    }
  }

  return {
    logFailure(exchange: Exchange, error: ApiError): void {
      const known = kinds.get(error.message)
      if (known !== undefined) {
        known.count += 1
        known.latest = [exchange, error]
        return
      }
      write(exchange, error, 1)
      if (hasEnded) return
      kinds.set(error.message, { count: 0, latest: [exchange, error] })
      timer ??= setInterval(writeCounted, failureInterval).unref()
    },

    end(): void {
      hasEnded = true
      clearInterval(timer)
      writeCounted()
      kinds.clear()
    },
  }
}

function requestFields(exchange: Exchange, status: number, errorCode: ErrorCode | undefined) {
  const { request, sessionId, path } = exchange
  const { traceparent: given } = request.headers
  return {
    session_id: sessionId,
    traceparent: typeof given === 'string' && traceparent.test(given) ? given : undefined,
    method: request.method,
    path,
    status,
    error_code: errorCode,
  }
}

/** Returns the cause for the log. Logging a stack is slow, so only unexpected errors have one. */
function causeOf({ code, cause }: ApiError): { err?: unknown; cause?: string } {
  if (code === 'INTERNAL_ERROR') return { err: cause }
  if (cause === undefined) return {}
  return { cause: types.isNativeError(cause) ? cause.message : String(cause) }
}
