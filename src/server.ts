/** The life of one process: listen, serve, stop. @module */

import { setMaxListeners } from 'node:events'
import type { Logger } from 'pino'
import { createApp, type Observer } from './app.js'
import type { CurrentSigning } from './auth/secret.js'
import type { Config } from './config.js'
import type { ItemRequest } from './item/item-request.js'
import { storeItems } from './item/seed.js'
import { type Delay, delayed } from './store/delayed.js'
import type { ItemStore } from './store/item-store.js'
import { openStore } from './store/open.js'
import type { Metrics } from './watch/metrics.js'
import { createRequestLog } from './watch/request-log.js'

/** Options of a server that are not settings. */
export interface ServerOptions {
  /** Semantic version of the service. */
  readonly version: string
  readonly log: Logger
  /** Level of the log line of each request. */
  readonly requestLogLevel: 'info' | 'debug'
  /** By default, `JWT_SECRET` and `JWT_ALGORITHM` are read at each verification (spec §5.5). */
  readonly currentSigning?: CurrentSigning
  /** Items that the store starts with; it generates their ids. */
  readonly items?: readonly ItemRequest[]
  /** Slows down the item endpoints. */
  readonly delay?: Delay | undefined
  /** Which worker this process is, where several serve together. */
  readonly worker?: Worker | undefined
}

/** One of several processes that serve on the same port, started by one that does not serve. */
export interface Worker {
  /** Counted from 1. */
  readonly number: number
  /** Hands the metrics on to the process that serves those of all workers. */
  publish(metrics: Metrics): Promise<Publication>
}

interface Publication {
  close(): unknown
}

/** A listening server. */
export interface Server {
  /** Where it can be reached from this machine, without a trailing slash. */
  readonly url: string
  readonly store: ItemStore
  /**
   * Accepts no new connections, answers what was sent, and releases the items.
   * @param grace how long clients have to send another request, in milliseconds.
   */
  stop(grace?: number): Promise<void>
}

/** Time reserved for the process to exit once the last connection is closed. */
const exitTime = 250 // milliseconds

/**
 * Starts serving.
 * @throws {StoreError} if the store does not take the items that it shall start with.
 * @throws the error of `listen`, for example `EADDRINUSE`.
 */
export async function startServer(config: Config, options: ServerOptions): Promise<Server> {
  const { log, items = [] } = options
  const store = await openStore(config, log)
  try {
    await storeItems(store, items)
    return await serve(config, options, store)
  } catch (error) {
    await store.close()
    throw error
  }
}

/** Serves the items of a store. */
async function serve(config: Config, options: ServerOptions, kept: ItemStore): Promise<Server> {
  const { version, log, requestLogLevel, currentSigning, delay, worker } = options
  const stopping = new AbortController()
  setMaxListeners(0, stopping.signal) // one for each delay
  const store = delay === undefined ? kept : delayed(kept, delay, stopping.signal)
  const observers: Observer[] = []
  if (log.isLevelEnabled(requestLogLevel)) observers.push(createRequestLog(log, requestLogLevel))
  const metrics = await startMetrics(config, store, worker)
  if (metrics !== undefined) observers.push(metrics.observe)

  const app = createApp(
    { ...config, version, isWorker: worker !== undefined },
    { store, log, observers, currentSigning },
  )
  const port = await app.listen(config.port, config.host).catch(async (error) => {
    metrics?.close()
    await app.stop({ timeout: 0 })
    throw error
  })
  const url = `http://${reachable(config.host)}:${port}`

  return {
    url,
    store,
    async stop(grace) {
      stopping.abort()
      await app.stop({
        timeout: Math.max(0, config.shutdownTimeout * 1000 - exitTime),
        ...(grace === undefined ? {} : { grace }),
      })
      await metrics?.close()
      await store.close()
    },
  }
}

/** Counts requests and publishes the metrics, if there is a port for them. */
async function startMetrics(config: Config, store: ItemStore, worker: Worker | undefined) {
  const { metricsPort, metricsHost } = config
  if (metricsPort === undefined) return undefined
  const { createMetrics, serveMetrics } = await import('./watch/metrics.js')
  const metrics = createMetrics(store)
  const published: Publication =
    worker === undefined
      ? await serveMetrics(metrics.registry, metricsPort, metricsHost)
      : await worker.publish(metrics)
  return { observe: metrics.observe, close: () => published.close() }
}

/** An address that a client on this machine can use. */
function reachable(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost'
  return host.includes(':') ? `[${host}]` : host
}
