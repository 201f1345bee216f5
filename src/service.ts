/** Builds the service from the store, the routes, the listener, the log and the metrics. @module */

import type { Logger } from 'pino'
import type { Config } from './config/settings.js'
import { UsageError } from './config/usage-error.js'
import type { createControlRoutes } from './doubles/control.js'
import type { Doubles } from './doubles/doubles.js'
import { answerError, refusalResponse } from './http/answer.js'
import { createBodyReader } from './http/body.js'
import { createReaders, Exchange } from './http/exchange.js'
import { createFailureLog, createRequestLog } from './http/request-log.js'
import { createRouter } from './http/router.js'
import { createRoutes, type RouteParts } from './http/routes.js'
import { createWaitingReads } from './http/waiting-reads.js'
import { createListener, type Serve } from './listener/listener.js'
import { nodeProblem } from './listener/node-internals.js'
import { StoreMismatchError } from './store/item-store.js'
import { Blocks } from './store/memory/blocks.js'
import { createMemoryStore, type MemoryStore } from './store/memory/store.js'
import { withoutCredentials } from './store/redis/address.js'

export interface ServiceParts extends Pick<RouteParts, 'store' | 'signing' | 'load'> {
  readonly log: Logger
  readonly requestLogLevel: 'info' | 'debug'
  readonly doubles: Doubles | undefined // for tests; `undefined` in production
  readonly control?: typeof createControlRoutes | undefined // only in `dev`
}

const exitTime = 250 // ms for the process to exit after the last connection is closed

/** @throws {UsageError} if the listener doesn't support this Node.js, or fake timers were on. */
export function createService(config: Config, parts: ServiceParts) {
  const problem = nodeProblem()
  if (problem !== undefined) throw new UsageError(problem)
  const { store, log, requestLogLevel, load, doubles, control } = parts
  const waitingReads = createWaitingReads(store)
  const bodies = createBodyReader(config, (exchange, part) => doubles?.bodyReceived(exchange, part))
  const routes = createRoutes(config, {
    ...parts,
    waitingReads,
    readBody: bodies.readBody,
    newId: doubles?.newId,
    withFaults: (handle) => doubles?.withFaults(handle, bodies.readBody) ?? handle,
    moreRoutes: (guards) =>
      doubles && control ? control(store, doubles, bodies.readBody, guards) : [],
  })
  const findEndpoint = createRouter(routes)
  const failureLog = createFailureLog(log)
  const readers = createReaders(config.maxReaderBytes, failureLog.logFailure)
  const observers: ((exchange: Exchange) => void)[] = []
  if (log.isLevelEnabled(requestLogLevel)) {
    observers.push(createRequestLog(log, requestLogLevel))
  }
  let closeMetrics: (() => void) | undefined

  const serve: Serve = (response, connection) => {
    const exchange = new Exchange(response, connection, readers, config.trustedProxies)
    doubles?.arrived(exchange)
    for (const observe of observers) response.once('finish', () => observe(exchange))
    connection.batch.handle(() => answer(exchange))
  }

  async function answer(exchange: Exchange): Promise<void> {
    try {
      const { guards, handle } = findEndpoint(exchange)
      for (const guard of guards) guard(exchange)
      if (!exchange.connection.isRequestBroken) await handle(exchange)
    } catch (thrown) {
      answerError(exchange, thrown, failureLog.logFailure)
    }
  }

  const listener = createListener(config, refusalResponse, serve)

  /** Answers requests that have arrived or arrive within `grace` ms, and then closes the store. */
  async function stop(grace: number): Promise<void> {
    waitingReads.stop()
    doubles?.stop()
    await listener.stop(Math.max(0, config.shutdownTimeout * 1000 - exitTime), grace)
    failureLog.end()
    closeMetrics?.()
    await store.close()
  }

  return {
    waitingReads,
    /**
     * Listens, even without a usable secret (spec §5.5). Returns the URL for clients on this machine. After an error,
     * call `stop`.
     * @throws {UsageError} if metrics cannot be served, or a system error such as `EADDRINUSE`.
     */
    async listen(): Promise<string> {
      const { host, port, metricsHost, metricsPort } = config
      const url = urlOf(host, await listener.listen(port, host))
      if (metricsPort !== undefined) {
        const { publishMetrics } = await import('./http/metrics.js')
        const { limits = [] } = store
        const ofParts = [bodies.limit, ...listener.limits, readers.limit, waitingReads.limit]
        const of = [...load.limits, ...ofParts, ...limits]
        const metrics = await publishMetrics({ ...parts, limits: of }, metricsPort, metricsHost)
        observers.push(metrics.observe)
        closeMetrics = metrics.close
      }
      return url
    },
    stop,
  }
}

export function openMemoryStore({ maxStoreBytes, maxStoreBlocks }: Config): MemoryStore {
  return createMemoryStore(maxStoreBytes, new Blocks({ maxBlocks: maxStoreBlocks }))
}

/** Opens the configured store. @throws {UsageError} if the settings conflict with data on the Redis server. */
export async function openStore(config: Config, log: Logger) {
  const { storeUrl: url, maxStoreBytes } = config
  if (url === undefined) {
    const store = openMemoryStore(config)
    const description = { store: 'process memory', max_store_bytes: maxStoreBytes }
    return { store, description, storeBytes: () => store.size().memoryBytes }
  }
  const { storePrefix: prefix, storeBuckets: buckets, storeTimeout: timeout } = config
  const { openRedisStore } = await import('./store/redis/store.js')
  try {
    const store = await openRedisStore({ url, prefix, buckets, timeout, log })
    const description = { store: withoutCredentials(url) }
    return { store, description, storeBytes: () => 0 }
  } catch (error) {
    throw error instanceof StoreMismatchError ? new UsageError(error.message) : error
  }
}

function urlOf(host: string, port: number): string {
  if (host === '0.0.0.0' || host === '::') return `http://localhost:${port}`
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}
