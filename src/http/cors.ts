/**
 * Cross-origin requests, accepted from any origin (spec §1.5, Fetch standard §3.2).
 *
 * The origin is always `*` and no cookies are used, so a few constant headers are enough, and
 * responses to parser errors can have them too.
 *
 * @module
 */

import { answerEmpty } from './answer.js'
import type { Exchange } from './exchange.js'

/** A preflight for any other method is granted too, so that the page sees the 405. */
const allowedMethods = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS']
const allowedHeaders = [
  ...['Authorization', 'Content-Type'],
  ...['If-Match', 'If-None-Match', 'Prefer', 'Idempotency-Key'],
]

/** A list of names (RFC 9110 §5.6.1 and §5.6.2). */
const names = /^[\w!#$%&'*+.^`|~-]+(?:[ \t]*,[ \t]*[\w!#$%&'*+.^`|~-]+)*$/
const maxNamesLength = 2048 // characters

/** How long a browser may cache the response, in seconds: a day, which Chromium caps at two hours. */
const maxAge = '86400'

/** Whether this is a CORS preflight: a browser asking whether a page may send a request. */
export function isPreflight({ request: { method, headers } }: Exchange): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined
}

/** Grants a preflight, with every method and header that it requests. */
export function answerPreflight(exchange: Exchange): void {
  const { headers } = exchange.request
  answerEmpty(exchange, 204, [
    'Access-Control-Allow-Methods',
    withRequested(allowedMethods, headers['access-control-request-method']),
    'Access-Control-Allow-Headers',
    withRequested(
      allowedHeaders,
      headers['access-control-request-headers'],
      (name) => name.toLowerCase(), // the names of methods are compared as they are (Fetch standard §2.2.1)
    ),
    'Access-Control-Max-Age',
    maxAge,
    'Vary',
    'Access-Control-Request-Method, Access-Control-Request-Headers',
  ])
}

/** All names once, first those that are always allowed. @param key is equal for names that mean the same. */
function withRequested(
  allowed: readonly string[],
  requested: string | undefined,
  key = (name: string) => name,
): string {
  const canBeAllowed =
    requested !== undefined && requested.length <= maxNamesLength && names.test(requested)
  const all = new Map<string, string>()
  for (const name of [...allowed, ...(canBeAllowed ? requested.split(/[ \t]*,[ \t]*/) : [])]) {
    if (!all.has(key(name))) all.set(key(name), name)
  }
  return [...all.values()].join(', ')
}
