/** Finds the endpoint of a request by path and method, and grants CORS preflights. @module */

import { ApiError } from '../interface/errors.js'
import { pagePaths, prefix } from '../interface/names.js'
import { answerEmpty } from './answer.js'
import type { Exchange, Guard, Handler, Route } from './exchange.js'

/** A handler, and the guards that a request has to pass first. */
interface Endpoint {
  readonly guards: readonly Guard[]
  readonly handle: Handler
}

/** A route, with an endpoint for each method. */
interface Entry {
  readonly route: Route
  /** Its path, or what comes before the variable segment. */
  readonly start: string
  /** Name of the variable segment, which is the last one; `undefined` if there is none. */
  readonly parameter: string | undefined
  readonly byMethod: ReadonlyMap<string, Endpoint>
  readonly otherMethods: Endpoint
}

/** Longest part of an unknown path that an error message repeats, in characters: a path may have 16 KB. */
const maxShown = 200

/** A path that ends with a name in braces, the only place for one. */
const variablePath = /^(.*\/)\{(\w+)\}$/

/** Grants a preflight on any path: a browser refused here would report a CORS error and hide the 404 or 405. */
const preflight: Endpoint = { guards: [], handle: answerPreflight }

/**
 * Returns a function that finds the endpoint of a request, and sets the route and its parameters on the exchange. An
 * unknown path, or a method that a path does not have, gets an endpoint that says so, without guards. A URL that cannot
 * be decoded is an `ApiError` `BAD_REQUEST`.
 */
export function createRouter(routes: readonly Route[]) {
  const entries = routes.map(entryOf)
  const hasDocs = routes.some(({ path }) => path === pagePaths.docs)
  const unknownPath: Endpoint = {
    guards: [],
    handle: (exchange) => answerUnknownPath(exchange, hasDocs),
  }

  return function findEndpoint(exchange: Exchange): Endpoint {
    const { method = '', url = '' } = exchange.request
    assertTarget(url)
    const path = withoutTrailingSlash(exchange.path)
    const isEncoded = path.includes('%')
    const text = isEncoded ? decode(path) : path
    const granted = isPreflight(exchange) ? preflight : undefined
    for (const entry of entries) {
      if (!matches(entry, text)) continue
      exchange.route = entry.route
      if (entry.parameter !== undefined) {
        const params: Record<string, string> = {} // a computed name in a literal takes 100 ns more
        params[entry.parameter] = isEncoded
          ? decodeURIComponent(path.slice(path.lastIndexOf('/') + 1))
          : path.slice(entry.start.length)
        exchange.params = params
      }
      return entry.byMethod.get(method) ?? granted ?? entry.otherMethods
    }
    return granted ?? unknownPath
  }
}

function matches({ start, parameter }: Entry, path: string): boolean {
  if (parameter === undefined) return path === start
  return path.length > start.length && path.startsWith(start) && !path.includes('/', start.length)
}

/** An entry covers every method of its path, so that an unsupported one gets a 405. */
function entryOf(route: Route): Entry {
  const { path, guards, handlers } = route
  const [, start = path, parameter] = variablePath.exec(path) ?? []
  const byMethod = new Map<string, Endpoint>()
  for (const [method, handle] of Object.entries(handlers)) {
    byMethod.set(method, { guards, handle })
    if (method === 'GET') byMethod.set('HEAD', { guards, handle })
  }
  const allow = [...byMethod.keys(), 'OPTIONS'].join(', ')
  const handle: Handler = (exchange) => answerOtherMethod(exchange, allow)
  return { route, start, parameter, byMethod, otherMethods: { guards: [], handle } }
}

/** Removes one slash at the end. Two slashes are an empty segment, which no route has. */
function withoutTrailingSlash(path: string): string {
  return path.length > 1 && path.endsWith('/') && !path.endsWith('//') ? path.slice(0, -1) : path
}

/** @throws {ApiError} `BAD_REQUEST` for a malformed target in absolute form (RFC 9112 §3.2.2). */
function assertTarget(target: string): void {
  if (target.startsWith('/') || !/^https?:\/\//i.test(target)) return
  if (target.includes('#') || !URL.canParse(target)) throw undecodable()
}

/**
 * Decodes a path, except for reserved characters: an escaped slash does not separate segments.
 * @throws {ApiError} `BAD_REQUEST`.
 */
function decode(path: string): string {
  try {
    return decodeURI(path)
  } catch {
    throw undecodable()
  }
}

function undecodable(): ApiError {
  return new ApiError('BAD_REQUEST', 'The URL cannot be decoded')
}

/**
 * Answers a request without a route. Outside the prefix, the error names the prefix, which was most likely forgotten.
 * @param hasDocs whether there is an API page that the error at `/` can point to.
 */
function answerUnknownPath(exchange: Exchange, hasDocs: boolean): void {
  const { path } = exchange
  const { method } = exchange.request
  const hint = hasDocs && path === '/' ? `see ${pagePaths.docs}` : `all are under ${prefix}`
  const ending = `${path}/`.startsWith(`${prefix}/`) ? '' : `; ${hint}`
  const shown = path.length > maxShown ? `${path.slice(0, maxShown)}…` : path
  throw new ApiError('ROUTE_NOT_FOUND', `${method} ${shown} is not an endpoint${ending}`)
}

/** @param allow the methods of the path. */
function answerOtherMethod(exchange: Exchange, allow: string): void {
  const { method } = exchange.request
  const headers = ['Allow', allow]
  if (method === 'OPTIONS') answerEmpty(exchange, 204, headers)
  else throw new ApiError('METHOD_NOT_ALLOWED', `${method} is not allowed here`, { headers })
}

/**
 * Allowed from any origin (spec §1.5, Fetch standard §3.2). A preflight for any other method is granted too, so that the
 * page sees the 405.
 */
const allowedMethods = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS']
const allowedHeaders = [
  ...['Authorization', 'Content-Type'],
  ...['If-Match', 'If-None-Match', 'Prefer', 'Idempotency-Key'],
]

/** A list of names (RFC 9110 §5.6.1 and §5.6.2). */
const nameList = /^[\w!#$%&'*+.^`|~-]+(?:[ \t]*,[ \t]*[\w!#$%&'*+.^`|~-]+)*$/
const maxNamesLength = 2048 // characters

/** How long a browser may cache the response, in seconds: a day, which Chromium caps at two hours. */
const maxAge = '86400'

/** Whether this is a CORS preflight: a browser asking whether a page may send a request. */
function isPreflight({ request: { method, headers } }: Exchange): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined
}

/** Grants a preflight, with every method and header that it requests. */
function answerPreflight(exchange: Exchange): void {
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

/** Lists the allowed names, then the requested ones, each once. @param key returns the same for names that mean the same. */
function withRequested(
  allowed: readonly string[],
  requested: string | undefined,
  key = (name: string) => name,
): string {
  const canBeAllowed =
    requested !== undefined && requested.length <= maxNamesLength && nameList.test(requested)
  const all = new Map<string, string>()
  for (const name of [...allowed, ...(canBeAllowed ? requested.split(/[ \t]*,[ \t]*/) : [])]) {
    if (!all.has(key(name))) all.set(key(name), name)
  }
  return [...all.values()].join(', ')
}
