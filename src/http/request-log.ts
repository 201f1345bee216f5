/** Logs requests and failures: never a token, nor any part of a body. @module */

import type { IncomingMessage } from 'node:http'
import type { Logger } from 'pino'
import type { ApiError, ErrorCode } from '../interface/errors.js'
import type { Exchange } from './exchange.js'

/** W3C Trace Context, version 00 and later ones (§3.2). */
const traceparent = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}(?:-[\w-]*)?$/

/** Minimum time between two lines about failures of the same kind, in milliseconds. */
const failureInterval = 1_000

/**
 * Maximum number of kinds of failures at a time. The messages of unexpected errors may differ from request to request;
 * beyond this number, failures with the same error code are one kind.
 */
const maxKinds = 50

/** Logs a line for every request whose response was sent. */
export function createRequestLog(
  log: Logger,
  level: 'info' | 'debug',
  clientOf: (request: IncomingMessage) => string | undefined,
) {
  return function logRequest(exchange: Exchange): void {
    const { request, response, startedAt, token, errorCode } = exchange
    const { statusCode } = response
    log[level](
      {
        ...requestFields(exchange, statusCode, errorCode),
        ms: Math.round((performance.now() - startedAt) * 1000) / 1000,
        client: clientOf(request),
        sub: token?.sub,
      },
      'answered',
    )
  }
}

/** Failures of one kind within the latest interval. */
interface Kind {
  /** Number of failures that are not in the log yet. */
  count: number
  /** The latest failure. */
  latest: readonly [Exchange, ApiError]
}

/**
 * Logs failures with their cause: the first of a kind at once, and then one line per interval, about the
 * latest, with the number of all. Failures come by the thousand: a full store fails every create.
 */
export function createFailureLog(log: Logger) {
  const kinds = new Map<string, Kind>()
  let timer: NodeJS.Timeout | undefined
  let hasEnded = false

  function write(exchange: Exchange, error: ApiError, count: number): void {
    const { message, status, code, exceeded } = error
    const fields = { ...requestFields(exchange, status, code), ...causeOf(error) }
    log.error({ ...fields, ...exceeded, count }, message)
  }

  function writeCounted(): void {
    for (const [key, kind] of kinds) {
      if (kind.count > 0) write(...kind.latest, kind.count)
      else kinds.delete(key)
      kind.count = 0
    }
  }

  return {
    logFailure(exchange: Exchange, error: ApiError): void {
      const name = kindOf(error)
      const key = kinds.has(name) || kinds.size < maxKinds ? name : `${error.code}`
      const known = kinds.get(key)
      if (known !== undefined) {
        known.count += 1
        known.latest = [exchange, error]
        return
      }
      write(exchange, error, 1)
      if (hasEnded) return
      kinds.set(key, { count: 0, latest: [exchange, error] })
      timer ??= setInterval(writeCounted, failureInterval).unref()
    },

    /** Logs the failures that were only counted. From now on, each failure has its own line. */
    end(): void {
      hasEnded = true
      clearInterval(timer)
      writeCounted()
      kinds.clear()
    },
  }
}

/** Returns a text that is the same for failures with the same message and cause. */
function kindOf({ code, message, cause }: ApiError): string {
  return JSON.stringify([code, message, cause instanceof Error ? cause.message : typeof cause])
}

/** Returns the fields that identify a request. */
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
