/** Client address, origin and path prefix of a request, as reported by trusted proxies. @module */

import { isIP } from 'node:net'
import { URL } from 'node:url'
import { authorityIn, type Exchange } from './exchange.js'

type Forwarded = Pick<Exchange, 'request' | 'proxies'>

const maxHops = 32 // between a client and the service; a longer list is forged

function isTrusted({ proxies }: Forwarded, address: string | undefined): boolean {
  if (proxies === undefined || address === undefined) return false
  return proxies.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
}

/** Returns the elements of a header; none unless a trusted proxy sent it. */
function reported(exchange: Forwarded, name: string): string[] {
  const { socket, headers } = exchange.request
  const value = isTrusted(exchange, socket.remoteAddress) ? headers[name] : undefined
  return value === undefined ? [] : String(value).split(',')
}

/** Returns the client's IP address, even behind trusted proxies; `undefined` after a disconnect. */
export function clientOf(exchange: Forwarded): string | undefined {
  let client = exchange.request.socket.remoteAddress
  // Each proxy appends its client's address, which is reliable only if we trust the proxy.
  const hops = reported(exchange, 'x-forwarded-for').slice(-maxHops)
  while (isTrusted(exchange, client)) {
    const hop = addressIn(hops.pop() ?? '')
    if (isIP(hop) === 0) break
    client = hop
  }
  return client
}

/** Strips the quotes, brackets and port that some proxies add (RFC 7239 §6, RFC 3986 §3.2.2). */
function addressIn(hop: string): string {
  const text = hop.trim().replace(/^"([^"]*)"$/, '$1')
  const [, bracketed, plain] = /^(?:\[([^\]]*)\]|([^:]*))(?::\d+)?$/.exec(text) ?? []
  return bracketed ?? plain ?? text
}

/** Returns the origin of the client's request; `undefined` without a valid host (RFC 9112 §3.2.2). */
export function originOf(exchange: Forwarded): string | undefined {
  const { headers, url } = exchange.request
  const host = authorityIn(url) ?? headers.host
  // The first proxy names the client's scheme; later ones may append their own.
  const [scheme = ''] = reported(exchange, 'x-forwarded-proto')
  const isSecure = scheme.trim().toLowerCase() === 'https'
  const origin = `${isSecure ? 'https' : 'http'}://${host ?? ''}`
  return URL.canParse(origin) ? new URL(origin).origin : undefined
}

/** Returns the path prefix that proxies have removed, such as `/store`; may be empty. */
export function prefixOf(exchange: Forwarded): string {
  const parts = reported(exchange, 'x-forwarded-prefix').map((part) => part.trim())
  const prefixes = parts.map((part) => (part.endsWith('/') ? part.slice(0, -1) : part))
  return prefixes.every(isCleanPath) ? prefixes.join('') : ''
}

/** True if a path can be put in front of another one: it's encoded and normalized, with no slash at its end. */
function isCleanPath(path: string): boolean {
  if (path === '') return true
  if (!path.startsWith('/') || /\/\/|%(?![\da-f]{2})|\/$/i.test(path)) return false
  return new URL(`http://host${path}`).pathname === path
}
