/**
 * Cross-origin requests, accepted from everywhere (spec §1.5, Fetch standard §3.2).
 *
 * The origin is always `*` and no cookies are used, so three constant headers say all there is to
 * say, and they can stand on the errors of the HTTP parser too.
 *
 * @module
 */

import type { FastifyReply, FastifyRequest } from 'fastify'
import { answerEmpty } from './answer.js'

const allowedMethods = 'GET, HEAD, POST, PUT, DELETE, OPTIONS'
const allowedHeaders = 'Authorization, Content-Type'

/** A list of header names (RFC 9110 §5.6.1), short enough to be sent back. */
const headerNames = /^[\w!#$%&'*+.^`|~-]+(?:[ \t]*,[ \t]*[\w!#$%&'*+.^`|~-]+)*$/
const maxHeaderNames = 2048

/** How long a browser may keep the answer, in seconds: a day, of which Chromium takes two hours. */
const maxAge = '86400'

/** Whether a browser asks if it may send a request of another origin. */
export function isPreflight({ method, headers }: FastifyRequest): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined
}

/** Says yes to a preflight, with every header that it asks for. */
export function answerPreflight(request: FastifyRequest, reply: FastifyReply): void {
  const asked = request.headers['access-control-request-headers']
  const canBeAllowed =
    asked !== undefined && asked.length <= maxHeaderNames && headerNames.test(asked)
  answerEmpty(reply, 204, [
    'Access-Control-Allow-Methods',
    allowedMethods,
    'Access-Control-Allow-Headers',
    canBeAllowed ? `${allowedHeaders}, ${asked}` : allowedHeaders,
    'Access-Control-Max-Age',
    maxAge,
    'Vary',
    'Access-Control-Request-Headers',
  ])
}
