/** Finds the endpoint for a request by path and method. @module */

import { URL } from 'node:url'
import { ApiError } from '../interface/errors.js'
import { pagePaths, prefix } from '../interface/paths.js'
import { isHostAndPort } from '../listener/refusal.js'
import { answerEmpty } from './answer.js'
import { authorityIn, type Exchange, type Handler, type Route } from './exchange.js'
import { prefixOf } from './forwarded.js'
import { decoded } from './parameters.js'
import { answerPreflight, isPreflight } from './preflight.js'

type Endpoint = Pick<Route, 'guards'> & { readonly handle: Handler }

const maxShown = 200

/** Answers CORS preflights for every path. Without them, web pages couldn't read a 404 or 405. */
const preflight = unguarded(answerPreflight)

/** Creates a router. Its `findEndpoint` sets the exchange's `route` and `segment`, and throws for a malformed URL. */
export function createRouter(routes: readonly Route[]) {
  const entries = routes.map(entryOf)
  const hasDocs = routes.some(({ path }) => path === pagePaths.docs)
  const unknownPath = unguarded((exchange) => {
    const { path, request } = exchange
    const isRoot = path === '/' && hasDocs
    const start = prefixOf(exchange)
    const hint = isRoot
      ? `see ${start + pagePaths.docs}`
      : `all endpoints are under ${start + prefix}`
    const ending = `${path}/`.startsWith(`${prefix}/`) ? '' : `; ${hint}`
    const shown = path.length > maxShown ? `${path.slice(0, maxShown)}…` : path
    throw new ApiError('ROUTE_NOT_FOUND', `${request.method} ${shown} is not an endpoint${ending}`)
  })

  return function findEndpoint(exchange: Exchange): Endpoint {
    const { method = '', url = '' } = exchange.request
    const path = withoutTrailingSlash(exchange.path)
    const isEncoded = path.includes('%')
    // Reserved characters stay encoded, because an encoded slash doesn't separate segments.
    const text = isEncoded ? decoded(path, decodeURI) : path
    if (text === undefined || isMalformed(url))
      throw new ApiError('BAD_REQUEST', 'The URL cannot be decoded')
    const granted = isPreflight(exchange.request) ? preflight : undefined
    for (const entry of entries) {
      if (!matches(entry, text)) continue
      exchange.route = entry.route
      if (entry.isVariable) {
        const segment = path.slice(path.lastIndexOf('/') + 1)
        exchange.segment = isEncoded ? decodeURIComponent(segment) : segment
      }
      return entry.byMethod.get(method) ?? granted ?? entry.otherMethods
    }
    return granted ?? unknownPath
  }
}

function matches({ start, isVariable }: ReturnType<typeof entryOf>, path: string): boolean {
  if (!isVariable) return path === start
  return path.length > start.length && path.startsWith(start) && !path.includes('/', start.length)
}

function entryOf(route: Route) {
  const { path, guards, handlers } = route
  const start = path.replace(/\{\w+\}$/, '')
  const byMethod = new Map<string, Endpoint>()
  for (const [method, handle] of Object.entries(handlers)) {
    byMethod.set(method, { guards, handle })
    if (method === 'GET') byMethod.set('HEAD', { guards, handle })
  }
  const headers = ['Allow', [...byMethod.keys(), 'OPTIONS'].join(', ')]
  const otherMethods = unguarded((exchange) => {
    const { method } = exchange.request
    if (method === 'OPTIONS') return answerEmpty(exchange, 204, headers)
    throw new ApiError('METHOD_NOT_ALLOWED', `${method} is not allowed here`, { headers })
  })
  return { route, start, isVariable: start !== path, byMethod, otherMethods }
}

function unguarded(handle: Handler): Endpoint {
  return { guards: [], handle }
}

/** Removes one slash from the end. A path that ends in two stays as it is, and has no route. */
export function withoutTrailingSlash(path: string): string {
  return path.length > 1 && path.endsWith('/') && !path.endsWith('//') ? path.slice(0, -1) : path
}

/** True for a target in absolute form that is an invalid URL (RFC 9112 §3.2.2, RFC 9110 §4.2). */
function isMalformed(target: string): boolean {
  const authority = authorityIn(target)
  if (authority === undefined) return false
  const hasHost = isHostAndPort(authority) && !/^(?:$|:)/.test(authority)
  return !hasHost || target.includes('#') || !URL.canParse(target)
}
