/** Takes each request through the guards of its route to its handler. @module */

import { ApiError } from '../interface/errors.js'
import { pagePaths } from '../interface/paths.js'
import { require } from '../require.js'
import { answerEmpty } from './answer.js'
import { answerPreflight, isPreflight } from './cors.js'
import { type Exchange, type Handler, pathOf, type Route } from './exchange.js'

const findMyWay: typeof import('find-my-way') = require('find-my-way')

/** Maximum length of a path parameter, in characters: more than any request head can hold. */
const maxParamLength = 1_048_576

/** Finds the route of a request, runs its guards, and returns its handler. */
export type FindHandler = (exchange: Exchange) => Handler

export function createRouter(routes: readonly Route[]): FindHandler {
  const router = findMyWay({ ignoreTrailingSlash: true, maxParamLength, onBadUrl: () => undefined })
  for (const route of routes) {
    // One route serves all methods of a path, so that an unsupported one is known to be a 405.
    router.on('GET', route.path.replaceAll(/\{(\w+)\}/g, ':$1'), () => undefined, route)
  }

  const hasDocs = routes.some(({ path }) => path === pagePaths.docs)

  return function findHandler(exchange) {
    const { method, url = '' } = exchange.request
    const found = router.find('GET', url)
    if (found === null) return (exchange) => answerUnknownPath(exchange, hasDocs)
    if (found.store === null) throw new ApiError('BAD_REQUEST', 'The URL cannot be decoded')
    const route: Route = found.store // the one registered above
    exchange.route = route
    exchange.params = found.params

    const handler = handlerFor(route, method)
    if (handler === undefined) return (exchange) => answerOtherMethod(exchange, route)
    for (const guard of route.guards) guard(exchange)
    return handler
  }
}

function handlerFor({ handlers }: Route, method: string | undefined): Handler | undefined {
  switch (method) {
    case 'HEAD':
      return handlers.GET
    case 'GET':
    case 'POST':
    case 'PUT':
    case 'DELETE':
      return handlers[method]
    default:
      return undefined
  }
}

/** @param hasDocs whether somebody who looks for a page, at `/`, can be told of one. */
function answerUnknownPath(exchange: Exchange, hasDocs: boolean): void {
  // A browser refused here would report a CORS error and hide the 404 that follows.
  if (isPreflight(exchange)) {
    answerPreflight(exchange)
    return
  }
  const { method } = exchange.request
  const path = pathOf(exchange)
  const hint = hasDocs && path === '/' ? `; see ${pagePaths.docs}` : ''
  throw new ApiError('ROUTE_NOT_FOUND', `${method} ${path} is not an endpoint${hint}`)
}

function answerOtherMethod(exchange: Exchange, { handlers }: Route): void {
  const { method } = exchange.request
  if (isPreflight(exchange)) {
    answerPreflight(exchange)
    return
  }
  const methods = Object.keys(handlers).flatMap((name) => (name === 'GET' ? [name, 'HEAD'] : name))
  const headers = ['Allow', [...methods, 'OPTIONS'].join(', ')]
  if (method === 'OPTIONS') answerEmpty(exchange, 204, headers)
  else throw new ApiError('METHOD_NOT_ALLOWED', `${method} is not allowed here`, { headers })
}
