/** Builds the service from the store, the routes, the listener, the log and the metrics. @module */

import { setMaxListeners } from 'node:events'
import type { Logger } from 'pino'
import type { Config } from './config/settings.js'
import { UsageError } from './config/usage-error.js'
import type { Doubles } from './doubles/doubles.js'
import { answerError, refusalResponse } from './http/answer.js'
import { clientOf, type Exchange, newExchange } from './http/exchange.js'
import type { PublishedMetrics } from './http/metrics.js'
import { createFailureLog, createRequestLog } from './http/request-log.js'
import { createRouter } from './http/router.js'
import { createRoutes, type RouteParts } from './http/routes.js'
import { createWaitingReads } from './http/waiting-reads.js'
import { createListener, type Serve } from './listener/listener.js'
import { nodeProblem } from './listener/node-internals.js'
import { type ItemStore, StoreMismatchError } from './store/item-store.js'
import { createMemoryStore, type MemoryStore } from './store/memory/store.js'
import { withoutCredentials } from './store/redis/address.js'

/** The parts of the service that are not settings. */
export interface ServiceParts extends Pick<RouteParts, 'store' | 'signing' | 'load'> {
  readonly log: Logger
  /** Log level of the line about each request. */
  readonly requestLogLevel: 'info' | 'debug'
  /** Latency, failures and predictable ids for tests; `undefined` in production. */
  readonly doubles: Doubles | undefined
}

export type Service = ReturnType<typeof createService>

/** Time reserved for the process to exit once the last connection is closed, in milliseconds. */
const exitTime = 250

/** Creates a service that does not listen yet. @throws {UsageError} if the listener does not support this Node.js. */
export function createService(config: Config, parts: ServiceParts) {
  const problem = nodeProblem()
  if (problem !== undefined) throw new UsageError(problem)
  const { store, log, requestLogLevel, load, doubles } = parts
  const stopping = new AbortController()
  setMaxListeners(0, stopping.signal) // 0 means no maximum, because each delayed request adds a listener
  const waitingReads = createWaitingReads(store, stopping.signal)
  const routes = createRoutes(config, {
    ...parts,
    waitingReads,
    newId: doubles?.newId,
    wrap: (handle) => doubles?.wrap(handle, stopping.signal) ?? handle,
  })
  const findEndpoint = createRouter(routes)
  const failureLog = createFailureLog(log)
  /** Functions to call with an exchange when its response has been sent. */
  const observers: ((exchange: Exchange) => void)[] = []
  if (log.isLevelEnabled(requestLogLevel)) {
    const { trustedProxies } = config
    observers.push(
      createRequestLog(log, requestLogLevel, (request) => clientOf(request, trustedProxies)),
    )
  }
  if (doubles !== undefined) observers.push(doubles.observe)
  let metrics: PublishedMetrics | undefined

  const serve: Serve = (request, response, connection) => {
    const exchange = newExchange(request, response, connection)
    for (const observe of observers) response.once('finish', () => observe(exchange))
    connection.turn.handle(response, () => answer(exchange))
  }

  async function answer(exchange: Exchange): Promise<void> {
    const { connection, request, response } = exchange
    try {
      const { guards, handle } = findEndpoint(exchange)
      for (const guard of guards) guard(exchange)
      // If the response is already closed, the body must not be read, because nothing would release its memory.
      if (!connection.isRequestBroken && !response.destroyed) await handle(exchange)
    } catch (thrown) {
      // The rest of a rejected body is discarded, but it takes memory until garbage is collected, so it is counted too.
      if (!request.complete) request.on('data', ({ length }) => load.bodyReceived(length))
      answerError(exchange, thrown, failureLog.logFailure)
    }
  }

  const listener = createListener(config, refusalResponse, serve)

  /**
   * Stops accepting connections, and answers the requests that were already sent. Does not close the store.
   * @param grace time for which clients may send another request, in milliseconds.
   */
  async function stop(grace: number): Promise<void> {
    stopping.abort()
    await listener.stop({ timeout: Math.max(0, config.shutdownTimeout * 1000 - exitTime), grace })
    failureLog.end()
    metrics?.close()
  }

  return {
    waitingReads,
    /**
     * Starts to listen. Without a usable `JWT_SECRET`, item requests get 503 until there is a usable one (spec §5.5).
     * @returns the URL of the service on this machine, without a trailing slash.
     * @throws {UsageError} if the metrics cannot be served at their address.
     * @throws the system's error if the service cannot listen, for example `EADDRINUSE`.
     */
    async listen(): Promise<string> {
      try {
        const { host, port, metricsHost, metricsPort } = config
        if (metricsPort !== undefined) {
          const { publishMetrics } = await import('./http/metrics.js')
          metrics = await publishMetrics(store, waitingReads, {
            host: metricsHost,
            port: metricsPort,
          })
          observers.push(metrics.observe)
        }
        return urlOf(host, await listener.listen(port, host))
      } catch (error) {
        await stop(0)
        throw error
      }
    },
    stop,
  }
}

export interface OpenedStore {
  readonly store: ItemStore
  /** Log fields that describe the store. */
  readonly description: Readonly<Record<string, string | number>>
  /** Returns the memory that the items take in this process, in bytes; 0 for items on a Redis server. */
  itemBytes(): number
}

export function openMemoryStore({ maxStoreBytes, maxStoreBlocks }: Config): MemoryStore {
  return createMemoryStore(maxStoreBytes, { maxBlocks: maxStoreBlocks })
}

/**
 * Opens the store that the settings name: in process memory (spec §1.2), or on a Redis server. A store that cannot
 * reach its server tries to connect until it is closed.
 * @throws {UsageError} if the settings do not match the items that are already on the server.
 */
export async function openStore(config: Config, log: Logger): Promise<OpenedStore> {
  const {
    storeUrl: url,
    storePrefix: prefix,
    storeBuckets: buckets,
    storeTimeout: timeout,
    maxStoreBytes,
  } = config
  if (url === undefined) {
    const store = openMemoryStore(config)
    const description = { store: 'process memory', max_store_bytes: maxStoreBytes }
    return { store, description, itemBytes: () => store.size().memoryBytes }
  }
  const { openRedisStore } = await import('./store/redis/store.js')
  try {
    const store = await openRedisStore({ url, prefix, buckets, timeout, log })
    return { store, description: { store: withoutCredentials(url) }, itemBytes: () => 0 }
  } catch (error) {
    throw error instanceof StoreMismatchError ? new UsageError(error.message) : error
  }
}

/** Returns the URL at which clients on this machine reach a server, without a trailing slash. */
function urlOf(host: string, port: number): string {
  if (host === '0.0.0.0' || host === '::') return `http://localhost:${port}`
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}
