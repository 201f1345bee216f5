/** Starts the service as a process of its own. @module */

import type { Logger } from 'pino'
import type { Config } from '../config.js'
import type { Server, ServerOptions } from '../server.js'
import { StoreError } from '../store/item-store.js'
import { UsageError } from '../usage-error.js'
import { readVersion } from '../version.js'
import { affordableConnections } from './descriptors.js'
import { judgeMemory } from './memory.js'
import { handleShutdown } from './shutdown.js'

export interface StartOptions extends Omit<ServerOptions, 'version' | 'log'> {
  /** Whether the log has human-readable lines instead of JSON. */
  readonly isReadable: boolean
}

/** How long clients have to send another request once the service stops, in milliseconds. */
const lastRequestGrace = 500

/**
 * Serves until a signal stops it.
 * @throws {UsageError} if the settings do not fit this machine.
 */
export async function start(
  config: Config,
  { isReadable, ...others }: StartOptions,
): Promise<{ server: Server; log: Logger }> {
  const [{ createLog }, { startServer }] = await Promise.all([
    import('../log.js'),
    import('../server.js'),
  ])
  const { worker } = others
  const log = createLog(config.logLevel, isReadable, worker?.number)
  // All code is loaded by now, so this is what the idle process takes.
  const { maxMemoryBytes, storeUrl } = config
  const maxStoreBytes = storeUrl === undefined ? config.maxStoreBytes : 0
  const limits = { maxMemoryBytes, maxStoreBytes }
  const memory = judgeMemory(process.memoryUsage.rss(), limits)
  if (memory.verdict === 'refuse') throw new UsageError(memory.reason)

  const options = { ...others, version: readVersion(), log }
  const maxConnections = affordableConnections(config.maxConnections)
  const server = await startServer({ ...config, maxConnections }, options).catch(
    (error: unknown) => {
      throw startProblem(error, config) ?? error
    },
  )
  const stop = () => server.stop(lastRequestGrace)
  handleShutdown(stop, config.shutdownTimeout, log, worker !== undefined)
  // Only now: whoever reads this may send a signal.
  if (worker === undefined) log.info({ url: server.url }, `listening on ${server.url}`)
  if (memory.verdict === 'warn') log.warn(memory.reason)
  if (maxConnections < config.maxConnections) {
    log.warn(
      `MAX_CONNECTIONS is ${config.maxConnections}, but the limit on open files (ulimit -n) leaves room for ${maxConnections}; no more are accepted`,
    )
  }
  return { server, log }
}

/** What the user can do about an error at the start, if anything. */
export function startProblem(error: unknown, config: Config): UsageError | undefined {
  if (error instanceof StoreError) {
    return new UsageError(`the items of the seed cannot all be stored: ${error.message}`)
  }
  const { code, port, address, hostname }: Record<string, unknown> = Object(error)
  const host = hostname ?? address
  const isMetricsServer =
    port === undefined
      ? host === config.metricsHost && host !== config.host
      : port === config.metricsPort
  const prefix = isMetricsServer ? '--metrics-' : '--'
  switch (code) {
    case 'EADDRINUSE':
      return new UsageError(
        `port ${port} is in use; stop the program that uses it or choose another port with ${prefix}port`,
      )
    case 'EACCES':
      return new UsageError(
        `no permission to listen on port ${port}; choose one above 1023 with ${prefix}port`,
      )
    case 'EADDRNOTAVAIL':
    case 'EAFNOSUPPORT':
    case 'EAI_AGAIN':
    case 'EINVAL':
    case 'ENOTFOUND':
      return new UsageError(
        `${isMetricsServer ? config.metricsHost : config.host} is not an address of this machine; choose another address with ${prefix}host`,
      )
    default:
      return undefined
  }
}
