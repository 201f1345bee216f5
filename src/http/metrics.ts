/** Metrics for Prometheus, served on a separate port and never on the public port. @module */

import { once } from 'node:events'
import { createServer } from 'node:http'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { explainListenError } from '../config/usage-error.js'
import { isTokenError } from '../interface/errors.js'
import type { Awaitable, ItemStore, StoreSize, StoreTraffic } from '../store/item-store.js'
import type { Exchange } from './exchange.js'
import type { WaitingReads } from './waiting-reads.js'

/** Upper bounds of the histogram buckets for request times, in seconds. Most requests take less than a millisecond. */
const durationBuckets = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10,
]

/** Histogram bounds for Redis round trips, in seconds. A round trip to a nearby server takes about 1 ms. */
const roundTripBuckets = [0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2]

/** HTTP methods with their own labels. With all 34 methods, there could be 12,000 lines, which take 50 ms to write. */
const knownMethods = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS']

/** Serves metrics at `/metrics`. @throws {UsageError} if the configured host or port cannot be used. */
export async function publishMetrics(
  store: ItemStore,
  waitingReads: WaitingReads,
  port: number,
  host: string,
) {
  const { registry, observe } = createMetrics(store, waitingReads)
  const server = createServer(async ({ url = '', method = '' }, response) => {
    if (url.split('?')[0] !== '/metrics') return response.writeHead(404).end()
    if (method !== 'GET' && method !== 'HEAD')
      return response.writeHead(405, { Allow: 'GET, HEAD' }).end()
    try {
      const text = await registry.metrics()
      return response.writeHead(200, { 'Content-Type': registry.contentType }).end(text)
    } catch {
      return response.writeHead(500).end()
    }
  })
  try {
    await once(server.listen(port, host), 'listening')
  } catch (error) {
    throw explainListenError(error, port, host, '--metrics-')
  }
  return { observe, close: () => void server.close() }
}

export function createMetrics(store: ItemStore, waitingReads: Pick<WaitingReads, 'count'>) {
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
    help: 'Time from the head of a request to the end of its response, without the time that a read waited for a change',
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

  function measure<Source>(table: MetricTable<Source>, sourceOf: () => Awaitable<Source>): void {
    for (const [name, [help, value]] of Object.entries(table)) {
      const metric = new (name.endsWith('_total') ? Counter : Gauge)({
        name,
        help,
        registers,
        async collect() {
          const current = value(await sourceOf())
          metric.remove()
          if (current !== undefined) metric.inc(current)
        },
      })
    }
  }

  let asked: Promise<Partial<StoreSize>> | undefined
  async function currentSize(): Promise<Partial<StoreSize>> {
    asked ??= (async () => store.size())().catch(() => ({}))
    const size = await asked
    asked = undefined
    return size
  }

  const help = 'Number of reads that wait for a change (Prefer: wait)'
  measure({ item_store_waiting_reads: [help, ({ count }) => count] }, () => waitingReads)
  const { traffic } = store
  if (traffic !== undefined) {
    const roundTrip = new Histogram({
      name: 'item_store_redis_round_trip_seconds',
      help: 'Time from a command to its reply',
      buckets: roundTripBuckets,
      registers,
    })
    traffic.onRoundTrip = (seconds) => roundTrip.observe(seconds)
    measure(trafficMetrics, () => traffic)
  }
  measure(sizeMetrics, currentSize)
  return {
    registry,
    observe({ request, response, route, startedAt, token, errorCode }: Exchange): void {
      const { method = '' } = request
      const labels = {
        route: route?.path ?? 'none',
        method: knownMethods.includes(method) ? method : 'other',
      }
      requests.inc({ ...labels, status: response.statusCode })
      duration.observe(labels, (performance.now() - startedAt) / 1000)
      if (token !== undefined) tokens.inc({ outcome: 'accepted' })
      else if (errorCode !== undefined && isTokenError(errorCode))
        tokens.inc({ outcome: errorCode })
    },
  }
}

type MetricTable<Source> = Readonly<
  Record<string, readonly [help: string, value: (source: Source) => number | undefined]>
>

const trafficMetrics: MetricTable<StoreTraffic> = {
  item_store_redis_commands_in_flight: [
    'Number of commands without a reply yet',
    ({ inFlight }) => inFlight,
  ],
  item_store_redis_commands_waiting: [
    'Number of commands that wait because too much is in flight',
    ({ waiting }) => waiting,
  ],
  item_store_redis_reconnections_total: [
    'Number of times that a lost connection was restored',
    ({ reconnections }) => reconnections,
  ],
  item_store_redis_redirections_total: [
    'Number of redirections of a command to another server of the cluster',
    ({ redirections }) => redirections,
  ],
  item_store_redis_unknown_outcomes_total: [
    'Number of changes with an unknown outcome: they may have taken effect or not',
    ({ unknownOutcomes }) => unknownOutcomes,
  ],
}

const sizeMetrics: MetricTable<Partial<StoreSize>> = {
  item_store_items: ['Number of items in the store', ({ items }) => items],
  item_store_item_bytes: ['Total size of all items in bytes', ({ itemBytes }) => itemBytes],
  item_store_memory_bytes: [
    'Memory held for items in bytes; with STORE_URL, all memory that the Redis server uses',
    ({ memoryBytes }) => memoryBytes,
  ],
  item_store_memory_fill_ratio: [
    'Fraction of item_store_memory_bytes filled with items',
    ({ itemBytes = 0, memoryBytes }) => memoryBytes && itemBytes / memoryBytes,
  ],
  item_store_used_bytes: [
    'Bytes that count against item_store_max_bytes: the items with their share of the index, or the memory of the Redis server',
    ({ usedBytes }) => usedBytes,
  ],
  item_store_max_bytes: [
    'MAX_STORE_BYTES; with STORE_URL, maxmemory of the Redis server, and missing if that is not set',
    ({ maxBytes }) => maxBytes,
  ],
}
