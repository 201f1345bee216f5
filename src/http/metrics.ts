/** Metrics for Prometheus, served on a port of their own, never on the public one. @module */

import { once } from 'node:events'
import { createServer } from 'node:http'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { explainListenError } from '../config/usage-error.js'
import { isTokenError } from '../interface/errors.js'
import type { Limit } from '../memory/shares.js'
import { performance } from '../memory/timers.js'
import type { Awaitable, StoreSize, StoreTraffic } from '../store/item-store.js'
import type { Exchange } from './exchange.js'
import { healthOf } from './health.js'
import type { RouteParts } from './routes.js'

/** Histogram bounds of request times, in seconds. Most requests take less than 1 ms. */
const durationBuckets = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10,
]

/** Histogram bounds of Redis round trips, in seconds. A nearby server takes about 1 ms. */
const roundTripBuckets = [0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2]

/** Methods with a label of their own. If all 34 had one, metrics could have 12,000 lines, which take 50 ms to write. */
const knownMethods = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS']

interface Measured extends Pick<RouteParts, 'store' | 'signing'> {
  readonly limits: readonly Limit[]
}

/**
 * Serves metrics at `/metrics`, and always a 200 at `/live`. @throws {UsageError} if the host or port cannot be used.
 */
export async function publishMetrics(measured: Measured, port: number, host: string) {
  const { registry, observe } = createMetrics(measured)
  const server = createServer(async ({ url = '', method = '' }, response) => {
    const [path = ''] = url.split('?')
    if (path !== '/metrics' && path !== '/live') return response.writeHead(404).end()
    if (method !== 'GET' && method !== 'HEAD')
      return response.writeHead(405, { Allow: 'GET, HEAD' }).end()
    if (path === '/live') return response.writeHead(200).end()
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

export function createMetrics({ store, signing, limits }: Measured) {
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

  /** Creates a metric that `read` measures at each scrape. A value of `undefined` is left out. */
  function measure(name: string, help: string, read: () => Awaitable<Values>, label = ''): void {
    const labelNames = label === '' ? [] : [label]
    const collect = async () => {
      for (const [key, value] of Object.entries(await read())) {
        const labels = label === '' ? {} : { [label]: key }
        metric.remove(labels)
        if (value !== undefined) metric.inc(labels, Number(value))
      }
    }
    const options = { name, help, labelNames, registers, collect }
    const metric = name.endsWith('_total') ? new Counter(options) : new Gauge(options)
  }

  let asked: Promise<Partial<StoreSize>> | undefined
  async function currentSize(): Promise<Partial<StoreSize>> {
    asked ??= (async () => store.size())().catch(() => ({}))
    const size = await asked
    asked = undefined
    return size
  }

  const healthHelp = 'Whether a subsystem is healthy: 1 or 0'
  measure('item_store_healthy', healthHelp, () => healthOf({ store, signing }), 'subsystem')
  const ofLimits = (read: (limit: Limit) => number) => () =>
    Object.fromEntries(limits.map((each) => [each.limit, read(each)]))
  const valueHelp = 'Value of a limit, in the unit of its maximum'
  measure(
    'item_store_limit_value',
    valueHelp,
    ofLimits(({ value }) => value()),
    'limit',
  )
  const maximumHelp = 'Maximum of a limit: bytes, milliseconds or a number'
  measure(
    'item_store_limit_maximum',
    maximumHelp,
    ofLimits(({ maximum }) => maximum),
    'limit',
  )
  const { traffic } = store
  if (traffic !== undefined) {
    const roundTrip = new Histogram({
      name: 'item_store_redis_round_trip_seconds',
      help: 'Time from a command to its reply',
      buckets: roundTripBuckets,
      registers,
    })
    traffic.onRoundTrip = (seconds) => roundTrip.observe(seconds)
    for (const [name, [key, help]] of Object.entries(trafficMetrics))
      measure(name, help, () => ({ value: traffic[key] }))
  }
  for (const [name, [key, help]] of Object.entries(sizeMetrics))
    measure(name, help, async () => ({ value: (await currentSize())[key] }))
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

type Values = Readonly<Record<string, number | boolean | undefined>> // by the values of a label

type MetricTable<Key> = Readonly<Record<string, readonly [key: Key, help: string]>>

const trafficMetrics: MetricTable<Exclude<keyof StoreTraffic, 'onRoundTrip'>> = {
  item_store_redis_commands_in_flight: ['inFlight', 'Commands without a reply yet'],
  item_store_redis_commands_waiting: ['waiting', 'Commands that wait: too much is in flight'],
  item_store_redis_reconnections_total: ['reconnections', 'Restored connections'],
  item_store_redis_redirections_total: ['redirections', 'Commands redirected by the cluster'],
  item_store_redis_unknown_outcomes_total: ['unknownOutcomes', 'Changes with an unknown outcome'],
}

/** Metrics of the store's size. With Redis, the last three are about its servers: their memory and `maxmemory`. */
const sizeMetrics: MetricTable<keyof StoreSize> = {
  item_store_items: ['items', 'Items in the store'],
  item_store_item_bytes: ['itemBytes', 'Total size of all items in bytes'],
  item_store_memory_bytes: ['memoryBytes', 'Memory held for items in bytes'],
  item_store_used_bytes: ['usedBytes', 'Bytes that count against item_store_max_bytes'],
  item_store_max_bytes: ['maxBytes', 'Maximum of item_store_used_bytes; missing if there is none'],
}
