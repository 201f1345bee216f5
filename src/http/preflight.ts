/** Answers CORS preflights for every path, so that web pages can read errors too (spec §1.5). @module */

import { answerEmpty } from './answer.js'
import type { Exchange } from './exchange.js'

/** True if a browser asks for permission (Fetch standard, CORS-preflight request). */
export function isPreflight({ method, headers }: Exchange['request']): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined
}

const allowedMethods = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS'] // spec §1.5, Fetch standard §3.2
const allowedHeaders = [
  ...['Authorization', 'Content-Type'],
  ...['If-Match', 'If-None-Match', 'Prefer', 'Idempotency-Key'],
]

const nameList = /^[\w!#$%&'*+.^`|~-]+(?:[ \t]*,[ \t]*[\w!#$%&'*+.^`|~-]+)*$/ // RFC 9110 §5.6.1 and §5.6.2
const maxNamesLength = 2048 // in characters
const maxAge = '86400' // in seconds; Chromium caches a preflight for at most two hours

/** Allows any method, so that the page can read the 405 for an unsupported one. */
export function answerPreflight(exchange: Exchange): void {
  const { headers } = exchange.request
  const methods = withRequested(allowedMethods, headers['access-control-request-method'])
  const names = headers['access-control-request-headers']
  const lower = (name: string) => name.toLowerCase() // methods are case-sensitive (Fetch standard §2.2.1)
  answerEmpty(exchange, 204, [
    ...['Access-Control-Allow-Methods', methods],
    ...['Access-Control-Allow-Headers', withRequested(allowedHeaders, names, lower)],
    ...['Access-Control-Max-Age', maxAge],
    ...['Vary', 'Access-Control-Request-Method, Access-Control-Request-Headers'],
  ])
}

function withRequested(allowed: readonly string[], requested = '', key = (name: string) => name) {
  const canBeAllowed = requested.length <= maxNamesLength && nameList.test(requested)
  const all = new Map<string, string>()
  for (const each of [...allowed, ...(canBeAllowed ? requested.split(',') : [])]) {
    const name = each.trim()
    if (!all.has(key(name))) all.set(key(name), name)
  }
  return [...all.values()].join(', ')
}
