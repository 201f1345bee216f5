/** What of a request goes to the log: never a token, and nothing of a body. @module */

import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import type { Logger } from 'pino'

/** W3C Trace Context, version 00 and those to come (§3.2). */
const traceparent = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}(?:-[\w-]*)?$/

/** The fields by which the lines of one request are found. */
export function requestFields(request: FastifyRequest): {
  session_id: string
  traceparent?: string
} {
  const given = request.headers.traceparent
  const isValid = typeof given === 'string' && traceparent.test(given)
  return isValid ? { session_id: request.id, traceparent: given } : { session_id: request.id }
}

/** Hook that logs a line, at debug, for every request that was answered. */
export function requestLog(log: Logger) {
  return function logRequest(
    request: FastifyRequest,
    reply: FastifyReply,
    done: HookHandlerDoneFunction,
  ): void {
    const [path] = request.url.split('?', 1)
    log.debug(
      {
        ...requestFields(request),
        method: request.method,
        path,
        status: reply.raw.statusCode,
        ...(request.errorCode === undefined ? {} : { error_code: request.errorCode }),
        ms: Math.round(reply.elapsedTime * 1000) / 1000,
      },
      'answered',
    )
    done()
  }
}
