/** Metrics for Prometheus, on a port of their own and never on the public one. @module */

import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { explainListenError, type ListenAddress } from '../config/usage-error.js'
import { isTokenError } from '../interface/errors.js'
import type { Awaitable, ItemStore, StoreSize, StoreTraffic } from '../store/item-store.js'
import type { Exchange } from './exchange.js'
import type { WaitingReads } from './waiting-reads.js'

/** Upper bounds in seconds: most requests take well under a millisecond, large lists a second. */
const durationBuckets = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10,
]

/** In seconds: a server nearby replies within a millisecond, and STORE_TIMEOUT is two by default. */
const roundTripBuckets = [0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2]

/** Methods with a label of their own. Anybody may send 34 of them to each route: 12,000 lines, which take 50 ms. */
const knownMethods = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS']

export interface PublishedMetrics {
  /** Counts an answered request. */
  observe(exchange: Exchange): void
  close(): void
}

/**
 * Collects metrics and serves them.
 * @throws {UsageError} if it cannot listen there.
 */
export async function publishMetrics(
  store: ItemStore,
  waitingReads: WaitingReads,
  address: ListenAddress,
): Promise<PublishedMetrics> {
  const { registry, observe } = createMetrics(store, waitingReads)
  const server = await serveMetrics(registry, address)
  return { observe, close: () => void server.close() }
}

/** Metrics of the requests, the process and the store. */
export function createMetrics(
  store: ItemStore,
  waitingReads: Pick<WaitingReads, 'count'>,
): Pick<PublishedMetrics, 'observe'> & { registry: Registry } {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })

  const requests = new Counter({
    name: 'item_store_requests_total',
    help: 'Number of requests answered',
    labelNames: ['route', 'method', 'status'],
    registers,
  })
  const duration = new Histogram({
    name: 'item_store_request_duration_seconds',
    help: 'Time from the head of a request to the end of its response, without what a read waited for a change',
    labelNames: ['route', 'method'],
    buckets: durationBuckets,
    registers,
  })
  const tokens = new Counter({
    name: 'item_store_tokens_total',
    help: 'Number of token verifications by outcome: accepted, or the error code',
    labelNames: ['outcome'],
    registers,
  })
  addGauge(
    registry,
    'item_store_waiting_reads',
    'Number of reads that wait for a change (Prefer: wait)',
    () => waitingReads.count,
  )
  if (store.traffic !== undefined) measureTraffic(store.traffic, registry)
  measureStore(store, registry)
  return {
    registry,
    observe({ request, response, route, startedAt, token, errorCode }) {
      const labels = { route: route?.path ?? 'none', method: methodLabel(request.method ?? '') }
      requests.inc({ ...labels, status: response.statusCode })
      duration.observe(labels, (performance.now() - startedAt) / 1000)
      if (token !== undefined) tokens.inc({ outcome: 'accepted' })
      else if (errorCode !== undefined && isTokenError(errorCode))
        tokens.inc({ outcome: errorCode })
    },
  }
}

function methodLabel(method: string): string {
  return knownMethods.includes(method) ? method : 'other'
}

function measureTraffic(traffic: StoreTraffic, registry: Registry): void {
  const registers = [registry]
  const roundTrip = new Histogram({
    name: 'item_store_redis_round_trip_seconds',
    help: 'Time from a command to its reply',
    buckets: roundTripBuckets,
    registers,
  })
  traffic.onRoundTrip = (seconds) => roundTrip.observe(seconds)

  function counter(name: string, help: string, read: () => number): void {
    new Counter({
      name,
      help,
      registers,
      collect() {
        this.reset()
        this.inc(read())
      },
    })
  }
  addGauge(
    registry,
    'item_store_redis_commands_in_flight',
    'Number of commands without a reply yet',
    () => traffic.inFlight,
  )
  addGauge(
    registry,
    'item_store_redis_commands_waiting',
    'Number of commands not sent yet, since too much is in flight',
    () => traffic.waiting,
  )
  counter(
    'item_store_redis_reconnections_total',
    'Number of times that a lost connection was made again',
    () => traffic.reconnections,
  )
  counter(
    'item_store_redis_redirections_total',
    'Number of times that a server of the cluster named another one for a command',
    () => traffic.redirections,
  )
  counter(
    'item_store_redis_unknown_outcomes_total',
    'Number of changes of which it is unknown whether they took effect',
    () => traffic.unknownOutcomes,
  )
}

function measureStore(store: ItemStore, registry: Registry): void {
  let asked: Promise<StoreSize | undefined> | undefined
  /** Metrics that are collected together share one request to the store. Without a reply, only they are missing. */
  const currentSize = () => {
    asked ??= sizeOf(store).finally(() => {
      asked = undefined
    })
    return asked
  }
  const gauge = (name: string, help: string, read: (size: StoreSize) => number | undefined) =>
    addGauge(registry, name, help, async () => {
      const size = await currentSize()
      return size && read(size)
    })
  gauge('item_store_items', 'Number of items in the store', ({ items }) => items)
  gauge('item_store_item_bytes', 'Total size of all items in bytes', (size) => size.itemBytes)
  gauge(
    'item_store_memory_bytes',
    'Memory held for items in bytes; with STORE_URL, all memory that the Redis server uses',
    ({ memoryBytes }) => memoryBytes,
  )
  gauge(
    'item_store_memory_fill_ratio',
    'Fraction of item_store_memory_bytes filled with items',
    (size) => (size.memoryBytes === 0 ? 0 : size.itemBytes / size.memoryBytes),
  )
  gauge(
    'item_store_used_bytes',
    'Bytes that count against item_store_max_bytes: the items with their share of the index, or the memory of the Redis server',
    ({ usedBytes }) => usedBytes,
  )
  gauge(
    'item_store_max_bytes',
    'MAX_STORE_BYTES; with STORE_URL, maxmemory of the Redis server, and missing without one',
    ({ maxBytes }) => maxBytes,
  )
}

/** Adds a gauge that is read when metrics are collected, and missing while its value is `undefined`. */
function addGauge(
  registry: Registry,
  name: string,
  help: string,
  read: () => Awaitable<number | undefined>,
): void {
  const gauge: Gauge = new Gauge({
    name,
    help,
    registers: [registry],
    async collect() {
      const value = await read()
      if (value === undefined) gauge.remove()
      else gauge.set(value)
    },
  })
}

/** Returns `undefined` while the store does not respond. */
async function sizeOf(store: ItemStore): Promise<StoreSize | undefined> {
  try {
    return await store.size()
  } catch {
    return undefined
  }
}

/**
 * Serves `/metrics`, for GET and HEAD.
 * @returns once it listens.
 * @throws {UsageError} if it cannot listen there.
 */
async function serveMetrics(registry: Registry, address: ListenAddress): Promise<Server> {
  const server = createServer(async (request, response) => {
    if (request.url?.split('?')[0] !== '/metrics') {
      response.writeHead(404).end()
      return
    }
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.writeHead(405, { Allow: 'GET, HEAD' }).end()
      return
    }
    try {
      const text = await registry.metrics()
      response.writeHead(200, { 'Content-Type': registry.contentType }).end(text)
    } catch {
      response.writeHead(500).end()
    }
  })
  try {
    await once(server.listen(address.port, address.host), 'listening')
  } catch (error) {
    throw explainListenError(error, address, '--metrics-')
  }
  return server
}
