/** The service as an application: the parts, in the order in which a request meets them. @module */

import { type FastifyInstance, fastify } from 'fastify'
import type { Logger } from 'pino'
import { requireToken } from './http/auth.js'
import {
  answerConnectionError,
  answerUnusualRequests,
  requireHost,
} from './http/connection-errors.js'
import { ApiError, answerError } from './http/errors.js'
import { healthHandlers } from './http/health.js'
import { collectionHandlers, itemHandlers } from './http/items.js'
import { routeNotFound, servePath, takeAllMethods } from './http/routes.js'
import { newSessionId } from './http/session.js'
import type { ItemStore } from './store/item-store.js'

export interface AppOptions {
  /** `service_name` of the health response. */
  readonly serviceName: string
  /** `version` of the health response, a semantic version. */
  readonly version: string
  /** Longest request body, in bytes. */
  readonly maxBodyBytes: number
  /** Longest time for a whole request to arrive, in milliseconds. */
  readonly requestTimeout: number
}

/** All endpoints are served under this prefix (spec §9.1). */
const prefix = '/api/v1'

/**
 * Longest path parameter, in characters. Node refuses headers above 16 KiB, URL included, so that
 * no id ever meets this limit, whose answer would come before the token is asked for.
 */
const maxParamLength = 65_536

/** How often Node looks for requests that take too long, in milliseconds. */
const timeoutCheckInterval = 1_000

/**
 * The service, ready to listen. It starts without a `JWT_SECRET` too, and then answers item
 * requests with 503 until there is one (spec §5.5).
 */
export function createApp(options: AppOptions, store: ItemStore, log: Logger): FastifyInstance {
  const app = fastify({
    logger: false,
    genReqId: newSessionId,
    exposeHeadRoutes: false,
    return503OnClosing: false,
    requestTimeout: options.requestTimeout,
    http: {
      requireHostHeader: false,
      connectionsCheckingInterval: timeoutCheckInterval,
      headersTimeout: options.requestTimeout,
    },
    routerOptions: { ignoreTrailingSlash: true, maxParamLength },
    clientErrorHandler: answerConnectionError,
    frameworkErrors(_error, _request, reply) {
      answerError(reply, new ApiError('BAD_REQUEST', 'The URL cannot be decoded'), log)
    },
  })
  answerUnusualRequests(app.server)
  takeAllMethods(app)
  app.addHook('onRequest', requireHost)
  app.decorateRequest('token', undefined)
  app.setErrorHandler((error, _request, reply) => answerError(reply, error, log))
  app.setNotFoundHandler(routeNotFound)

  const { maxBodyBytes, serviceName, version } = options
  servePath(app, `${prefix}/health`, healthHandlers(store, serviceName, version), [])
  servePath(app, `${prefix}/items`, collectionHandlers(store, maxBodyBytes), [requireToken])
  servePath(app, `${prefix}/items/:item_id`, itemHandlers(store, maxBodyBytes), [requireToken])
  return app
}
