/** The application: its parts put together, and the table of routes. @module */

import type { Logger } from 'pino'
import { type CurrentSigning, environmentSigning } from './auth/secret.js'
import type { Config } from './config/settings.js'
import type { Doubles } from './doubles/doubles.js'
import { answerError, refusalResponse } from './http/answer-error.js'
import { createBodyReader, reportDiscarded } from './http/body.js'
import { createDocumentHandler } from './http/document.js'
import { type Exchange, type Handler, newExchange, type Route } from './http/exchange.js'
import { createLoadGuard, createTokenGuard } from './http/guards.js'
import { createHealthCheck } from './http/health.js'
import { createItemHandlers } from './http/items.js'
import { createPageRoutes } from './http/pages.js'
import { createFailureLog } from './http/request-log.js'
import { createRouter } from './http/router.js'
import { SharedLists } from './http/shared-lists.js'
import { createWaitingReads, type WaitingReads } from './http/waiting-reads.js'
import type { ExceededLimit } from './interface/errors.js'
import { documentPath, paths, prefix } from './interface/paths.js'
import { createListener, type Listener, type Serve } from './listener/listener.js'
import type { ItemStore } from './store/item-store.js'

/** Options of the app: the settings, and what they do not have. */
export interface AppOptions extends Config {
  /** Semantic version of the service (spec §9.2). */
  readonly version: string
}

/** Called once for each request, when its response has been sent. */
export type Observer = (exchange: Exchange) => void

/** What an app is made of; none of it is a setting. */
export interface AppParts {
  readonly store: ItemStore
  readonly log: Logger
  readonly observers?: readonly Observer[]
  /** By default, `JWT_SECRET` and `JWT_ALGORITHM` are read for each verification (spec §5.5). */
  readonly currentSigning?: CurrentSigning | undefined
  /** By default, those of this app alone, which end with their clients or their time. */
  readonly waitingReads?: WaitingReads
  /** The limit that the process exceeds, if any; none by default. */
  readonly exceededLimit?: () => ExceededLimit | undefined
  /** Called with the number of bytes of bodies that have been received, or discarded. */
  readonly bodyReceived?: ((bytes: number) => void) | undefined
  /** What tests have switched on; nothing by default. */
  readonly doubles?: Doubles | undefined
}

/** The table of routes; of those that match a path, the first one counts. */
export function createRoutes(options: AppOptions, parts: AppParts): Route[] {
  const { store, currentSigning = environmentSigning, exceededLimit = () => undefined } = parts
  const { doubles, bodyReceived = () => undefined } = parts
  const { waitingReads = createWaitingReads(store, new AbortController().signal) } = parts
  const refuseOverload = createLoadGuard(exceededLimit)
  const guards = [refuseOverload, createTokenGuard(currentSigning)]
  const items = createItemHandlers(
    store,
    createBodyReader(options, bodyReceived),
    waitingReads,
    new SharedLists(store, options.maxSharedListBytes),
    doubles?.newId,
  )
  const failing = (handle: Handler) => doubles?.failing(handle) ?? handle
  const checkHealth = createHealthCheck(options, store, currentSigning, exceededLimit)
  const document: Route = {
    path: documentPath,
    guards: [refuseOverload],
    handlers: { GET: createDocumentHandler(options, store.guarantees) },
  }
  return [
    { path: prefix + paths.health, guards: [], handlers: { GET: checkHealth } },
    {
      path: prefix + paths.items,
      guards,
      handlers: { GET: failing(items.list), POST: failing(items.create) },
    },
    {
      path: prefix + paths.item,
      guards,
      handlers: {
        GET: failing(items.read),
        PUT: failing(items.replace),
        DELETE: failing(items.delete),
      },
    },
    ...(options.docs ? [document] : []),
    ...createPageRoutes(options, [refuseOverload]),
  ]
}

/**
 * The service, ready to listen. It starts without a `JWT_SECRET` too, and then answers item
 * requests with 503 until there is one (spec §5.5).
 */
export function createApp(options: AppOptions, parts: AppParts): Listener {
  const { log, observers = [], bodyReceived } = parts
  const findEndpoint = createRouter(createRoutes(options, parts))
  const { logFailure, end } = createFailureLog(log)

  const serve: Serve = (request, response, connection) => {
    const exchange = newExchange(request, response, connection)
    for (const observe of observers) response.once('finish', () => observe(exchange))
    connection.turn.handle(response, () => answer(exchange))
  }

  async function answer(exchange: Exchange): Promise<void> {
    const { connection, response } = exchange
    try {
      const { guards, handle } = findEndpoint(exchange)
      for (const guard of guards) guard(exchange)
      // A response that is closed already would never release the memory of the body.
      if (!connection.isRequestBroken && !response.destroyed) await handle(exchange)
    } catch (thrown) {
      if (!exchange.request.complete && bodyReceived)
        reportDiscarded(exchange.request, bodyReceived)
      answerError(exchange, thrown, logFailure)
    }
  }

  const listener = createListener(options, refusalResponse, serve)
  return {
    listen: listener.listen,
    async stop(options) {
      await listener.stop(options)
      end()
    },
  }
}
