/**
 * Cross-origin requests, accepted from everywhere (spec §1.5, Fetch standard §3.2).
 *
 * The origin is always `*` and no cookies are used, so three constant headers say all there is to
 * say, and they can stand on the errors of the HTTP parser too.
 *
 * @module
 */

import { answerEmpty } from './answer.js'
import type { Exchange } from './exchange.js'

/** Those that a browser asks for beside them are let through too, so that the page sees the 405. */
const allowedMethods = 'GET, HEAD, POST, PUT, DELETE, OPTIONS'
const allowedHeaders = 'Authorization, Content-Type'

/** A list of names (RFC 9110 §5.6.1 and §5.6.2), short enough to be sent back. */
const names = /^[\w!#$%&'*+.^`|~-]+(?:[ \t]*,[ \t]*[\w!#$%&'*+.^`|~-]+)*$/
const maxNamesLength = 2048

/** How long a browser may keep the answer, in seconds: a day, of which Chromium takes two hours. */
const maxAge = '86400'

/** Whether a browser asks if it may send a request of another origin. */
export function isPreflight({ request: { method, headers } }: Exchange): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined
}

/** Says yes to a preflight, with every method and header that it asks for. */
export function answerPreflight(exchange: Exchange): void {
  const { headers } = exchange.request
  answerEmpty(exchange, 204, [
    'Access-Control-Allow-Methods',
    withAsked(allowedMethods, headers['access-control-request-method']),
    'Access-Control-Allow-Headers',
    withAsked(allowedHeaders, headers['access-control-request-headers']),
    'Access-Control-Max-Age',
    maxAge,
    'Vary',
    'Access-Control-Request-Method, Access-Control-Request-Headers',
  ])
}

function withAsked(allowed: string, asked: string | undefined): string {
  const canBeAllowed = asked !== undefined && asked.length <= maxNamesLength && names.test(asked)
  return canBeAllowed ? `${allowed}, ${asked}` : allowed
}
