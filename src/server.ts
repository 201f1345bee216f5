/** One process's life: listen, serve, and stop when told to. @module */

import { once } from 'node:events'
import { Server as NetServer, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { createApp } from './app.js'
import type { Config } from './config.js'
import { createMetrics, createMetricsServer } from './http/metrics.js'
import { isIdle } from './http/pipelining.js'
import { openStore } from './store/open.js'

/** A server that listens. */
export interface Server {
  /** Where it can be reached from this machine, without a slash at the end. */
  readonly url: string
  /** Takes no new connections, answers what was accepted, and lets go of the items. */
  stop(): Promise<void>
}

/** Time that a client without a request has for sending one, before its connection is closed. */
const lastRequestTime = 500 // milliseconds

/** Time for the process to end, once the last connection is closed. */
const endingTime = 250 // milliseconds

export interface ServerOptions {
  /** Semantic version of the service. */
  readonly version: string
  readonly log: Logger
  /** Level of the line that tells of a request. */
  readonly requestLogLevel: 'info' | 'debug'
}

/**
 * Starts to serve.
 * @throws the error of `listen`, for example `EADDRINUSE`.
 */
export async function startServer(
  config: Config,
  { version, log }: ServerOptions,
): Promise<Server> {
  const store = openStore(config)
  const metrics = config.metricsPort === undefined ? undefined : createMetrics(store)
  const app = createApp({ ...config, version }, store, log, metrics)
  const metricsServer = metrics && createMetricsServer(metrics)
  if (metricsServer !== undefined) {
    await once(metricsServer.listen(config.metricsPort, config.metricsHost), 'listening')
  }
  const connections = new Set<Socket>()
  app.server.on('connection', (socket) => {
    connections.add(socket)
    socket.once('close', () => connections.delete(socket))
  })
  await app.listen({ host: config.host, port: config.port }).catch((error) => {
    metricsServer?.close()
    throw error
  })
  const url = `http://${reachable(config.host)}:${portOf(app)}`
  log.info({ url }, `listening on ${url}`)

  return {
    url,
    async stop() {
      await drain(app, connections, config.shutdownTimeout * 1000 - endingTime)
      await app.close()
      metricsServer?.close()
      await store.close()
    },
  }
}

/**
 * Waits until every connection is closed, and closes those that are left at the deadline.
 *
 * Node's own `close` of an HTTP server is of no use here: it closes connections that are idle at
 * that moment, under the request that a busy client is just sending, it takes an answer for sent
 * that waits for a slow client, and it stops the watch over requests that take too long.
 */
async function drain(
  app: FastifyInstance,
  connections: ReadonlySet<Socket>,
  timeout: number,
): Promise<void> {
  const deadline = Date.now() + Math.max(0, timeout)
  app.draining = true // from now on every answer says `Connection: close`
  const closed = once(app.server, 'close')
  NetServer.prototype.close.call(app.server)
  const isClosed = closed.then(() => true)
  const isClosedWithin = (time: number) => Promise.race([isClosed, delay(time, false)])

  let wait = Math.min(lastRequestTime, deadline - Date.now())
  while (!(await isClosedWithin(wait))) {
    const isLate = Date.now() >= deadline
    for (const socket of connections) if (isLate || isIdle(socket)) socket.destroy()
    wait = Math.max(0, Math.min(100, deadline - Date.now()))
  }
}

/** An address that a client on this machine can use. */
function reachable(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost'
  return host.includes(':') ? `[${host}]` : host
}

function portOf(app: FastifyInstance): number {
  const address = app.server.address()
  if (address === null || typeof address === 'string') throw new Error('not listening on TCP')
  return address.port
}
