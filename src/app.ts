/** The service as an application: the parts, in the order in which a request meets them. @module */

import { type FastifyInstance, fastify } from 'fastify'
import type { Logger } from 'pino'
import { requireToken } from './http/auth.js'
import { type BodyLimits, createBodyReader } from './http/body.js'
import { ApiError, answerError } from './http/errors.js'
import { healthHandlers } from './http/health.js'
import {
  answerConnectionError,
  type ConnectionLimits,
  createHttpServer,
} from './http/http-server.js'
import { collectionHandlers, itemHandlers } from './http/items.js'
import type { Metrics } from './http/metrics.js'
import { type LoadLimits, refuseOverload } from './http/overload.js'
import { requestLog } from './http/request-log.js'
import { routeNotFound, servePath, takeAllMethods } from './http/routes.js'
import { newSessionId } from './http/session.js'
import type { ItemStore } from './store/item-store.js'

/** What the app has to be told. */
export interface AppOptions extends BodyLimits, ConnectionLimits, LoadLimits {
  /** `service_name` of the health response. */
  readonly serviceName: string
  /** `version` of the health response, a semantic version. */
  readonly version: string
}

/** All endpoints are served under this prefix (spec §9.1). */
const prefix = '/api/v1'
const itemsPath = `${prefix}/items`

/**
 * Longest path parameter, in characters: any that the largest head of a request has room for, as
 * Fastify answers a longer one before the token is asked for.
 */
const maxParamLength = 1_048_576

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
    serverFactory: (serve) => createHttpServer(options, serve),
    routerOptions: { ignoreTrailingSlash: true, maxParamLength },
    clientErrorHandler: answerConnectionError,
    frameworkErrors(_error, _request, reply) {
      answerError(reply, new ApiError('BAD_REQUEST', 'The URL cannot be decoded'), log)
    },
  })
  takeAllMethods(app)
  app.decorate('draining', false)
  app.decorateRequest('token', undefined)
  app.decorateRequest('errorCode', undefined)
  app.setErrorHandler((error, _request, reply) => answerError(reply, error, log))
  app.setNotFoundHandler(routeNotFound)

  if (log.isLevelEnabled('debug')) app.addHook('onResponse', requestLog(log))
  if (metrics !== undefined) app.addHook('onResponse', metrics.observe)

  const { serviceName, version } = options
  const readBody = createBodyReader(options)
  const guards = [refuseOverload(app, options), requireToken]
  servePath(app, `${prefix}/health`, healthHandlers(store, serviceName, version), [])
  servePath(app, itemsPath, collectionHandlers(store, readBody), guards)
  servePath(app, `${itemsPath}/:item_id`, itemHandlers(store, readBody), guards)
  return app
}
