/**
 * One request with its response, as it passes through the application; routes and their handlers; and what trusted
 * proxies say about a request.
 *
 * @module
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { isIP } from 'node:net'
import type { VerifiedToken } from '../auth/secret.js'
import type { Config } from '../config/settings.js'
import type { ErrorCode } from '../interface/errors.js'
import { newUuid } from '../item/id.js'
import type { Connection } from '../listener/connection.js'
import type { Awaitable } from '../store/item-store.js'

export interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly connection: Connection
  /** A new UUID, version 4, for each request (spec §1.4); never taken from the client. */
  readonly sessionId: string
  /** When the request arrived, or as much later as it has waited: a value of `performance.now()`. */
  startedAt: number
  /** The requested path, without the query. */
  readonly path: string
  /** `undefined` for an unknown path. */
  route: Route | undefined
  /** The path segments that match a name in braces, decoded. */
  params: Readonly<Record<string, string | undefined>>
  /** The verified token of this request (spec §5.8); `undefined` on public routes. */
  token: VerifiedToken | undefined
  /** The error code in the response, for log and metrics. */
  errorCode: ErrorCode | undefined
}

/** Answers a request. */
export type Handler = (exchange: Exchange) => Awaitable<void>

/** Lets a request pass, or throws to refuse it. */
export type Guard = (exchange: Exchange) => void

/** One path of the interface. */
export interface Route {
  /** Variable segments are names in braces. */
  readonly path: string
  /** What a request must pass before it reaches a handler, in this order. */
  readonly guards: readonly Guard[]
  /** HEAD is answered like GET, OPTIONS with the list of methods, and any other method with 405. */
  readonly handlers: Readonly<Partial<Record<'GET' | 'POST' | 'PUT' | 'DELETE', Handler>>>
}

export function newExchange(
  request: IncomingMessage,
  response: ServerResponse,
  connection: Connection,
): Exchange {
  return {
    request,
    response,
    connection,
    sessionId: newUuid(),
    startedAt: performance.now(),
    path: pathIn(request.url ?? ''),
    route: undefined,
    params: {},
    token: undefined,
    errorCode: undefined,
  }
}

/**
 * The path in a request target (RFC 9112 §3.2) as it was sent: without the query, and in absolute form without
 * scheme and authority. Either may contain secrets.
 */
function pathIn(target: string): string {
  const [authority = ''] = target.startsWith('/') ? [] : (/^https?:\/\/[^/?#]*/i.exec(target) ?? [])
  const rest = target.slice(authority.length)
  const end = rest.search(/[?#]/)
  const path = end === -1 ? rest : rest.slice(0, end)
  return path === '' && authority !== '' ? '/' : path
}

type TrustedProxies = Config['trustedProxies']

function isTrusted(proxies: TrustedProxies, address: string | undefined): boolean {
  if (proxies === undefined || address === undefined) return false
  return proxies.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
}

/** Returns the address of the client; `undefined` once its connection is closed. */
export function clientOf(
  { socket, headers }: IncomingMessage,
  proxies: TrustedProxies,
): string | undefined {
  let client = socket.remoteAddress
  if (!isTrusted(proxies, client)) return client
  // Each proxy adds the address that it was called from, so only the last ones are known to be true.
  const hops = String(headers['x-forwarded-for'] ?? '').split(',')
  while (isTrusted(proxies, client)) {
    const hop = hops.pop()?.trim() ?? ''
    if (isIP(hop) === 0) break
    client = hop
  }
  return client
}

/** Returns scheme and host that the client used; `undefined` if the request names no usable host. */
export function originOf(
  { socket, headers }: IncomingMessage,
  proxies: TrustedProxies,
): string | undefined {
  const isSecure =
    isTrusted(proxies, socket.remoteAddress) && headers['x-forwarded-proto'] === 'https'
  const origin = `${isSecure ? 'https' : 'http'}://${headers.host ?? ''}`
  return URL.canParse(origin) ? new URL(origin).origin : undefined
}
