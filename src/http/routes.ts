/** Paths and methods: what has a handler, and the answers for what has none. @module */

import { METHODS } from 'node:http'
import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  HTTPMethods,
  onRequestHookHandler,
} from 'fastify'
import type { Awaitable } from '../store/item-store.js'
import { answerEmpty } from './answer.js'
import { answerPreflight, isPreflight } from './cors.js'
import { ApiError } from './errors.js'

type Handler = (request: FastifyRequest, reply: FastifyReply) => Awaitable<void>

/** The handlers of one path, by method. */
export type Handlers = Partial<Record<'GET' | 'POST' | 'PUT' | 'DELETE', Handler>>

/**
 * Lets Fastify route every method that Node can parse, and keep its hands off the bodies: the
 * handlers that want one read it themselves, all others ignore it whatever its content type.
 */
export function takeAllMethods(app: FastifyInstance): void {
  for (const method of METHODS) {
    app.addHttpMethod(method, { hasBody: false, overrideExisting: true })
  }
}

/**
 * Serves one path: its handlers, HEAD like GET, OPTIONS, and 405 for every other method.
 * @param onRequest what a request with a handler has to pass first.
 */
export function servePath(
  app: FastifyInstance,
  url: string,
  handlers: Handlers,
  onRequest: onRequestHookHandler[],
): void {
  const methods = [...Object.keys(handlers).flatMap(withHead), 'OPTIONS']
  const allow = ['Allow', methods.join(', ')]
  for (const [method, handler] of Object.entries(handlers)) {
    app.route({ method: withHead(method), url, onRequest, handler })
  }
  app.route({
    method: METHODS.filter((method) => !methods.includes(method) || method === 'OPTIONS'),
    url,
    handler(request, reply) {
      if (isPreflight(request)) return answerPreflight(request, reply)
      if (request.method === 'OPTIONS') return answerEmpty(reply, 204, allow)
      throw new ApiError('METHOD_NOT_ALLOWED', `${request.method} is not allowed here`, allow)
    },
  })
}

/** Answers requests for paths that nobody serves. */
export function routeNotFound(request: FastifyRequest, reply: FastifyReply): void {
  // A browser that is refused here would report a CORS fault and hide the 404 that is to come.
  if (isPreflight(request)) {
    answerPreflight(request, reply)
    return
  }
  const [path] = request.url.split('?', 1)
  throw new ApiError('ROUTE_NOT_FOUND', `${request.method} ${path} is not an endpoint`)
}

function withHead(method: string): HTTPMethods[] {
  return method === 'GET' ? ['GET', 'HEAD'] : [method]
}
