/** The service with its store, listening: for a process of its own, or inside another program. @module */

import { setMaxListeners } from 'node:events'
import type { Logger } from 'pino'
import { type AppParts, createApp, type Observer } from '../app.js'
import type { Config } from '../config/settings.js'
import { createForwarded } from '../http/forwarded.js'
import { createRequestLog } from '../http/request-log.js'
import { createWaitingReads, type WaitingReads } from '../http/waiting-reads.js'
import type { ItemRequest } from '../item/item-request.js'
import { storeItems } from '../item/seed.js'
import type { ItemStore } from '../store/item-store.js'
import { createMemoryStore } from '../store/memory/store.js'
import { urlOf } from './address.js'
import type { Load } from './load.js'
import type { PublishedMetrics } from './metrics.js'
import { readVersion } from './version.js'

/** Options of a server that are not settings. */
export interface ServerOptions extends Pick<AppParts, 'log' | 'currentSigning' | 'doubles'> {
  /** Level of the log line of each request. */
  readonly requestLogLevel: 'info' | 'debug'
  /**
   * Watches the load of the process, which refuses requests while overloaded. Left out by the library: neither the
   * heap nor the event loop belongs to it.
   */
  readonly watchLoad?: (config: Config, itemBytes: () => number) => Load
  /** Items that the store starts with, if it is empty; it generates their ids. */
  readonly items?: readonly ItemRequest[]
}

/** The service while it listens. */
export interface ItemServer {
  /** Where it can be reached from this machine, without a trailing slash. */
  readonly url: string
  /** The items, without the latency that tests have switched on. */
  readonly store: ItemStore
  /** Whether the items to start with were stored: not if the store already had others. */
  readonly isSeeded: boolean
  /**
   * Stops accepting connections, answers the requests already sent, and closes the store.
   * @param grace how long clients have to send another request, in milliseconds.
   */
  stop(grace?: number): Promise<void>
}

/** Time reserved for the process to exit once the last connection is closed. */
const exitTime = 250 // milliseconds

/**
 * Starts serving.
 * @throws {StoreError} if the store cannot take the items to start with.
 * @throws {UsageError} if the metrics cannot be served at their address.
 * @throws the error of `listen`, for example `EADDRINUSE`.
 */
export async function startServer(config: Config, options: ServerOptions): Promise<ItemServer> {
  const store = await openStore(config, options.log)
  try {
    const isSeeded = await seed(store, options.items ?? [])
    return { ...(await serve(config, options, store)), isSeeded }
  } catch (error) {
    await store.close()
    throw error
  }
}

/**
 * The store that the settings ask for: in process memory (spec §1.2) or on a Redis server. One that cannot
 * be reached is retried for as long as the store is open.
 * @throws {StoreMismatchError} if the settings do not fit what is stored there.
 */
async function openStore(config: Config, log: Logger): Promise<ItemStore> {
  const {
    storeUrl: url,
    storePrefix: prefix,
    storeBuckets: buckets,
    storeTimeout: timeout,
  } = config
  if (url === undefined) {
    return createMemoryStore(config.maxStoreBytes, { maxBlocks: config.maxStoreBlocks })
  }
  const { openRedisStore } = await import('../store/redis/store.js')
  return await openRedisStore({ url, prefix, buckets, timeout, log })
}

/** Stores the items unless there are others. @returns whether they were stored. */
async function seed(store: ItemStore, items: readonly ItemRequest[]): Promise<boolean> {
  if (items.length === 0) return true
  if ((await store.size()).items > 0) return false
  await storeItems(store, items)
  return true
}

/** Serves the items of a store. */
async function serve(
  config: Config,
  { log, requestLogLevel, currentSigning, doubles, watchLoad }: ServerOptions,
  opened: ItemStore,
): Promise<Omit<ItemServer, 'isSeeded'>> {
  const stopping = new AbortController()
  setMaxListeners(0, stopping.signal) // one for each delay
  const store = doubles?.slowed(opened, stopping.signal) ?? opened
  const observers: Observer[] = []
  if (log.isLevelEnabled(requestLogLevel)) {
    observers.push(createRequestLog(log, requestLogLevel, createForwarded(config)))
  }
  const waitingReads = createWaitingReads(store, stopping.signal)
  if (doubles !== undefined) observers.push(doubles.observe)
  const metrics = await startMetrics(config, store, waitingReads)
  if (metrics !== undefined) observers.push(metrics.observe)
  const load = watchLoad?.(config, () => (config.storeUrl === undefined ? heldBytes(opened) : 0))
  const app = createApp(
    { ...config, version: readVersion() },
    {
      ...{ store, log, observers, currentSigning, waitingReads, doubles },
      ...(load && { exceededLimit: load.exceededLimit, bodyReceived: load.bodyReceived }),
    },
  )

  async function stopServing(grace: number): Promise<void> {
    stopping.abort()
    await app.stop({ timeout: Math.max(0, config.shutdownTimeout * 1000 - exitTime), grace })
    load?.stop()
    metrics?.close()
  }

  const port = await app.listen(config.port, config.host).catch(async (error) => {
    await stopServing(0)
    throw error
  })
  return {
    url: urlOf(config.host, port),
    store: opened,
    async stop(grace = 0) {
      await stopServing(grace)
      await store.close()
    },
  }
}

/** Memory that a store in this process takes for its items. */
function heldBytes(store: ItemStore): number {
  const size = store.size()
  return 'memoryBytes' in size ? size.memoryBytes : 0
}

/** Measures, if there is a port for the metrics. */
async function startMetrics(
  { metricsPort: port, metricsHost: host }: Config,
  store: ItemStore,
  waitingReads: WaitingReads,
): Promise<PublishedMetrics | undefined> {
  if (port === undefined) return undefined
  const { publishMetrics } = await import('./metrics.js')
  return await publishMetrics(store, waitingReads, { port, host })
}
