/** What trusted proxies report about a request: the client's address, its origin and its path prefix. @module */

import { isIP } from 'node:net'
import { URL } from 'node:url'
import { authorityIn, type Exchange } from './exchange.js'

type Forwarded = Pick<Exchange, 'request' | 'proxies'>

/** Maximum number of proxies between a client and the service. A longer list of addresses is forged. */
const maxHops = 32

function isTrusted({ proxies }: Forwarded, address: string | undefined): boolean {
  if (proxies === undefined || address === undefined) return false
  return proxies.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
}

/** Returns the elements of a header; none if it does not come from a trusted proxy. */
function reported(exchange: Forwarded, name: string): string[] {
  const { socket, headers } = exchange.request
  const value = isTrusted(exchange, socket.remoteAddress) ? headers[name] : undefined
  return value === undefined ? [] : String(value).split(',')
}

/** Returns the client's IP address, even for a client behind trusted proxies; `undefined` after a disconnect. */
export function clientOf(exchange: Forwarded): string | undefined {
  let client = exchange.request.socket.remoteAddress
  // Each proxy appends the address of its own client. Only addresses appended by trusted proxies are reliable.
  const hops = reported(exchange, 'x-forwarded-for').slice(-maxHops)
  while (isTrusted(exchange, client)) {
    const hop = addressIn(hops.pop() ?? '')
    if (isIP(hop) === 0) break
    client = hop
  }
  return client
}

/** Returns an address without the quotes, brackets and port that some proxies add (RFC 7239 §6, RFC 3986 §3.2.2). */
function addressIn(hop: string): string {
  const text = hop.trim().replace(/^"([^"]*)"$/, '$1')
  const [, bracketed, plain] = /^(?:\[([^\]]*)\]|([^:]*))(?::\d+)?$/.exec(text) ?? []
  return bracketed ?? plain ?? text
}

/**
 * Returns the origin to which the client sent the request; `undefined` without a valid host. The authority of a request
 * target counts instead of the `Host` header (RFC 9112 §3.2.2).
 */
export function originOf(exchange: Forwarded): string | undefined {
  const { headers, url } = exchange.request
  const host = authorityIn(url) ?? headers.host
  // The first proxy names the client's scheme, and later ones may append their own.
  const [scheme = ''] = reported(exchange, 'x-forwarded-proto')
  const isSecure = scheme.trim().toLowerCase() === 'https'
  const origin = `${isSecure ? 'https' : 'http'}://${host ?? ''}`
  return URL.canParse(origin) ? new URL(origin).origin : undefined
}

/** Returns the path prefix that proxies have removed from the request's path, such as `/store`; may be empty. */
export function prefixOf(exchange: Forwarded): string {
  const parts = reported(exchange, 'x-forwarded-prefix').map((part) => part.trim())
  const prefixes = parts.map((part) => (part.endsWith('/') ? part.slice(0, -1) : part))
  return prefixes.every(isCleanPath) ? prefixes.join('') : ''
}

/** Returns whether a path can be put in front of another one without pointing elsewhere, and needs no encoding. */
function isCleanPath(path: string): boolean {
  if (path === '') return true
  if (!path.startsWith('/') || /\/\/|%(?![\da-f]{2})|\/$/i.test(path)) return false
  return new URL(`http://host${path}`).pathname === path
}
