/** One process's life: listen, serve, and stop when told to. @module */

import type { FastifyInstance } from 'fastify'
import { type DestinationStream, type Logger, pino } from 'pino'
import { createApp } from './app.js'
import type { Config } from './config.js'
import { createMemoryStore } from './store/memory.js'

/** A server that listens. */
export interface Server {
  /** Where it can be reached from this machine, without a slash at the end. */
  readonly url: string
  readonly log: Logger
  /** Takes no new requests, answers those that are under way, and lets go of the items. */
  stop(): Promise<void>
}

/**
 * Starts to serve.
 * @param version semantic version of the service.
 * @param logTo where log lines go; standard output by default.
 * @throws the error of `listen`, for example `EADDRINUSE`.
 */
export async function startServer(
  config: Config,
  version: string,
  logTo?: DestinationStream,
): Promise<Server> {
  const log = pino({ level: config.logLevel, base: null }, logTo ?? pino.destination(1))
  const store = createMemoryStore(config.maxStoreBytes)
  const app = createApp(
    {
      serviceName: config.serviceName,
      version,
      maxBodyBytes: config.maxBodyBytes,
      requestTimeout: config.requestTimeout * 1000,
    },
    store,
    log,
  )
  await app.listen({ host: config.host, port: config.port })
  const url = `http://${reachable(config.host)}:${portOf(app)}`
  log.info({ url }, `listening on ${url}`)

  return {
    url,
    log,
    async stop() {
      // A client that never finishes its request must not hold the process for ever.
      const deadline = setTimeout(
        () => app.server.closeAllConnections(),
        config.shutdownTimeout * 1000,
      )
      await app.close()
      clearTimeout(deadline)
      await store.close()
    },
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
