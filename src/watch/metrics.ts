/** Metrics for Prometheus, on a port of their own and never on the public one. @module */

import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { Exchange } from '../http/exchange.js'
import { isTokenError } from '../interface/errors.js'
import type { ItemStore, StoreSize } from '../store/item-store.js'

/** Upper bounds in seconds: most requests take well under a millisecond, large lists a second. */
const durationBuckets = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10,
]

/** Metrics as text, and the type of that text. */
export type MetricsText = Pick<Registry, 'metrics' | 'contentType'>

export interface Metrics {
  readonly registry: Registry
  /** Those of its metrics that the store is asked for. */
  readonly storeGauges: readonly Gauge[]
  /** Counts an answered request. */
  observe(exchange: Exchange): void
}

/** Metrics of the requests, of the process and of the store. */
export function createMetrics(store: ItemStore): Metrics {
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
    help: 'Time from the head of a request to the end of its response',
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
  return {
    registry,
    storeGauges: measureStore(store, registers),
    observe({ request, response, route, startedAt, token, errorCode }) {
      const labels = { route: route?.path ?? 'none', method: request.method ?? '' }
      requests.inc({ ...labels, status: response.statusCode })
      duration.observe(labels, (performance.now() - startedAt) / 1000)
      if (token !== undefined) tokens.inc({ outcome: 'accepted' })
      else if (errorCode !== undefined && isTokenError(errorCode))
        tokens.inc({ outcome: errorCode })
    },
  }
}

function measureStore(store: ItemStore, registers: Registry[]): Gauge[] {
  let asked: Promise<StoreSize | undefined> | undefined
  /** The store is asked once for all that is collected together. */
  const currentSize = () => {
    asked ??= sizeOf(store).finally(() => {
      asked = undefined
    })
    return asked
  }
  const gauge = (name: string, help: string, read: (size: StoreSize) => number): Gauge => {
    const metric: Gauge = new Gauge({
      name,
      help,
      registers,
      async collect() {
        // A store that does not respond leaves a gap here, and all other metrics as they are.
        const size = await currentSize()
        if (size === undefined) metric.remove()
        else metric.set(read(size))
      },
    })
    return metric
  }
  return [
    gauge('item_store_items', 'Number of items in the store', ({ items }) => items),
    gauge('item_store_item_bytes', 'Total size of all items in bytes', (size) => size.itemBytes),
    gauge(
      'item_store_page_bytes',
      'Memory held for items in bytes; with STORE_URL, all memory that its server uses',
      ({ pageBytes }) => pageBytes,
    ),
    gauge(
      'item_store_page_fill_ratio',
      'Fraction of item_store_page_bytes filled with items',
      (size) => (size.pageBytes === 0 ? 0 : size.itemBytes / size.pageBytes),
    ),
  ]
}

/** `undefined` while the store does not respond. */
async function sizeOf(store: ItemStore): Promise<StoreSize | undefined> {
  try {
    return await store.size()
  } catch {
    return undefined
  }
}

/**
 * Answers GET and HEAD of `/metrics`.
 * @returns once it listens.
 * @throws the error of `listen`, for example `EADDRINUSE`.
 */
export async function serveMetrics(
  source: MetricsText,
  port: number,
  host: string,
): Promise<Server> {
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
      const text = await source.metrics()
      response.writeHead(200, { 'Content-Type': source.contentType }).end(text)
    } catch {
      response.writeHead(500).end()
    }
  })
  await once(server.listen(port, host), 'listening')
  return server
}
