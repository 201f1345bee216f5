/** The service as an application: the parts, in the order in which a request meets them. @module */

import underPressure from '@fastify/under-pressure'
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
import type { Metrics } from './http/metrics.js'
import { requestLog } from './http/request-log.js'
import { routeNotFound, servePath, takeAllMethods } from './http/routes.js'
import { newSessionId } from './http/session.js'
import type { ItemStore } from './store/item-store.js'

/** What the app has to be told. Times are in seconds, as in the settings. */
export interface AppOptions {
  /** `service_name` of the health response. */
  readonly serviceName: string
  /** `version` of the health response, a semantic version. */
  readonly version: string
  /** Longest request body, in bytes. */
  readonly maxBodyBytes: number
  /** Longest head of a request, in bytes. */
  readonly maxHeaderBytes: number
  /** Most connections at a time. */
  readonly maxConnections: number
  /** Longest time for a whole request to arrive. */
  readonly requestTimeout: number
  /** How long a connection may wait for its next request. */
  readonly keepAliveTimeout: number
  /** How long a client may neither send nor read within a request. */
  readonly idleTimeout: number
  /** Mean delay of the event loop, in milliseconds, above which item requests are refused. */
  readonly maxEventLoopDelay: number
  /** Resident memory, in bytes, above which item requests are refused. */
  readonly maxMemoryBytes: number
}

/** All endpoints are served under this prefix (spec §9.1). */
const prefix = '/api/v1'
const itemsPath = `${prefix}/items`

/**
 * Longest path parameter, in characters: any that the largest head of a request has room for, as
 * Fastify answers a longer one before the token is asked for.
 */
const maxParamLength = 1_048_576

/** How often Node looks for requests that take too long, in milliseconds. */
const timeoutCheckInterval = 1_000

/** How often the load is measured, in milliseconds. */
const loadInterval = 1_000

/**
 * The service, ready to listen. It starts without a `JWT_SECRET` too, and then answers item
 * requests with 503 until there is one (spec §5.5).
 * @param metrics what counts the requests, if anything does.
 */
export function createApp(
  options: AppOptions,
  store: ItemStore,
  log: Logger,
  metrics?: Metrics,
): FastifyInstance {
  const app = fastify({
    logger: false,
    genReqId: newSessionId,
    exposeHeadRoutes: false,
    return503OnClosing: false,
    requestTimeout: options.requestTimeout * 1000,
    keepAliveTimeout: options.keepAliveTimeout * 1000,
    connectionTimeout: options.idleTimeout * 1000,
    http: {
      requireHostHeader: false,
      maxHeaderSize: options.maxHeaderBytes,
      headersTimeout: options.requestTimeout * 1000,
      connectionsCheckingInterval: timeoutCheckInterval,
    },
    routerOptions: { ignoreTrailingSlash: true, maxParamLength },
    clientErrorHandler: answerConnectionError,
    frameworkErrors(_error, _request, reply) {
      answerError(reply, new ApiError('BAD_REQUEST', 'The URL cannot be decoded'), log)
    },
  })
  app.server.maxConnections = options.maxConnections
  answerUnusualRequests(app.server)
  takeAllMethods(app)
  app.decorate('draining', false)
  app.decorateRequest('token', undefined)
  app.decorateRequest('errorCode', undefined)
  app.setErrorHandler((error, _request, reply) => answerError(reply, error, log))
  app.setNotFoundHandler(routeNotFound)

  app.addHook('onRequest', requireHost)
  app.register(underPressure, {
    sampleInterval: loadInterval,
    maxEventLoopDelay: options.maxEventLoopDelay,
    maxRssBytes: options.maxMemoryBytes,
    pressureHandler(request, reply) {
      if (request.routeOptions.url?.startsWith(itemsPath) !== true) return
      answerError(reply, new ApiError('SERVICE_UNAVAILABLE', 'The service is overloaded'), log)
    },
  })
  if (log.isLevelEnabled('debug')) app.addHook('onResponse', requestLog(log))
  if (metrics !== undefined) app.addHook('onResponse', metrics.observe)

  const { maxBodyBytes, serviceName, version } = options
  servePath(app, `${prefix}/health`, healthHandlers(store, serviceName, version), [])
  servePath(app, itemsPath, collectionHandlers(store, maxBodyBytes), [requireToken])
  servePath(app, `${itemsPath}/:item_id`, itemHandlers(store, maxBodyBytes), [requireToken])
  return app
}
