/** The service as an application: its parts put together, and the table of routes. @module */

import type { Logger } from 'pino'
import { type CurrentSigning, environmentSigning } from './auth/secret.js'
import { type BodyLimits, createBodyReader } from './connections/body.js'
import {
  type ConnectionLimits,
  createHttpServer,
  type HttpServer,
} from './connections/http-server.js'
import { answerError } from './http/answer-error.js'
import { createDocumentHandler, type DocumentOptions } from './http/document.js'
import { type Exchange, newExchange, type Route } from './http/exchange.js'
import { createHealthCheck, type HealthOptions } from './http/health.js'
import { createItemHandlers } from './http/items.js'
import { createPageRoutes } from './http/pages.js'
import { createRouter } from './http/router.js'
import { createTokenGuard } from './http/token-guard.js'
import { documentPath, paths, prefix } from './interface/paths.js'
import type { ItemStore } from './store/item-store.js'
import { type LoadLimits, watchLoad } from './watch/load.js'
import { createFailureLog } from './watch/request-log.js'

/** Options of the app. */
export interface AppOptions
  extends BodyLimits,
    ConnectionLimits,
    LoadLimits,
    HealthOptions,
    DocumentOptions {
  /** Whether the OpenAPI document and the API page are served. */
  readonly docs: boolean
  /** Whether the items page is served. */
  readonly console?: boolean | undefined
}

/** Called once for each request, when its response has been sent. */
export type Observer = (exchange: Exchange) => void

/** What an app works with; none of it is a setting. */
export interface AppParts {
  readonly store: ItemStore
  readonly log: Logger
  readonly observers?: readonly Observer[]
  /** By default, `JWT_SECRET` and `JWT_ALGORITHM` are read at each verification (spec §5.5). */
  readonly currentSigning?: CurrentSigning | undefined
}

/**
 * The service, ready to listen. It starts without a `JWT_SECRET` too, and then answers item
 * requests with 503 until there is one (spec §5.5).
 */
export function createApp(
  options: AppOptions,
  { store, log, observers = [], currentSigning = environmentSigning }: AppParts,
): HttpServer {
  const load = watchLoad(options)
  const items = createItemHandlers(store, createBodyReader(options))
  const checkHealth = createHealthCheck(options, store, currentSigning, load.excess)
  const guards = [load.refuseOverload, createTokenGuard(currentSigning)]
  const routes: Route[] = [
    {
      path: prefix + paths.health,
      guards: [],
      handlers: { GET: checkHealth },
    },
    {
      path: prefix + paths.items,
      guards,
      handlers: { GET: items.list, POST: items.create },
    },
    {
      path: prefix + paths.item,
      guards,
      handlers: { GET: items.read, PUT: items.replace, DELETE: items.delete },
    },
  ]
  if (options.docs) {
    routes.push({
      path: documentPath,
      guards: [load.refuseOverload],
      handlers: { GET: createDocumentHandler(options) },
    })
  }
  routes.push(...createPageRoutes(options, [load.refuseOverload]))
  const findHandler = createRouter(routes)
  const logFailure = createFailureLog(log)

  const server = createHttpServer(options, async function serve(request, response, connection) {
    const exchange = newExchange(request, response, connection)
    for (const observe of observers) response.once('finish', () => observe(exchange))
    try {
      const handle = findHandler(exchange)
      await undefined // by then, an error in the rest of the same packet has been answered
      if (!response.headersSent) await handle(exchange)
    } catch (thrown) {
      answerError(exchange, thrown, logFailure)
    }
  })

  return {
    ...server,
    async stop(options) {
      await server.stop(options)
      load.stop()
    },
  }
}
