/** Serves as a process of its own, until a signal stops it. @module */

import { readdirSync, readFileSync } from 'node:fs'
import type { Logger } from 'pino'
import type { Config } from '../config/settings.js'
import { UsageError } from '../config/usage-error.js'
import { UnsupportedNodeError } from '../listener/node-internals.js'
import { StoreError, StoreMismatchError } from '../store/item-store.js'
import { withoutCredentials } from '../store/redis/address.js'
import { explainListenError } from './address.js'
import { memoryWarning } from './memory.js'
import type { ItemServer, ServerOptions } from './server.js'
import { handleShutdown } from './shutdown.js'
import { readVersion } from './version.js'

export interface StartOptions extends Omit<ServerOptions, 'log' | 'watchLoad'> {
  /** Whether the log has human-readable lines instead of JSON. */
  readonly isReadable: boolean
}

/** How long clients have to send another request once the service is stopping, in milliseconds. */
const lastRequestGrace = 500

/** Descriptors reserved for everything else: files, metrics, connections about to be refused. */
const reservedDescriptors = 32

/**
 * Serves until a signal stops it.
 * @throws {UsageError} if the settings do not fit this machine.
 */
export async function start(
  config: Config,
  { isReadable, ...options }: StartOptions,
): Promise<{ server: ItemServer; log: Logger }> {
  const [{ createLog }, { startServer }, { watchLoad }] = await Promise.all([
    import('./log.js'),
    import('./server.js'),
    import('./load.js'),
  ])
  const log = createLog(config.logLevel, isReadable)
  // All code is loaded by now, so this is the memory of the idle process.
  const warning = memoryWarning(process.memoryUsage.rss(), {
    maxMemoryBytes: config.maxMemoryBytes,
    maxStoreBytes: config.storeUrl === undefined ? config.maxStoreBytes : 0,
  })
  const maxConnections = affordableConnections(config.maxConnections)
  const server = await startServer(
    { ...config, maxConnections },
    { ...options, log, watchLoad },
  ).catch((error: unknown) => {
    if (error instanceof StoreError) {
      throw new UsageError(`the seed cannot be stored completely: ${error.message}`)
    }
    if (error instanceof StoreMismatchError || error instanceof UnsupportedNodeError) {
      throw new UsageError(error.message)
    }
    throw explainListenError(error, config, '--')
  })
  const stop = () => server.stop(lastRequestGrace)
  handleShutdown(stop, config.shutdownTimeout, log)
  // A supervisor that reads this line may send a signal at once.
  logStart(log, { ...config, maxConnections }, server.url)
  if (warning !== undefined) log.warn(warning)
  if (maxConnections < config.maxConnections) {
    log.warn(
      `MAX_CONNECTIONS is ${config.maxConnections}, but the limit on open files (ulimit -n) leaves room for ${maxConnections}; no more are accepted`,
    )
  }
  return { server, log }
}

/** Logs what has started. @param url where the service can be reached from this machine. */
function logStart(log: Logger, config: Config, url: string): void {
  const { storeUrl, maxStoreBytes, maxMemoryBytes, maxBodyBytes, maxConnections } = config
  const store =
    storeUrl === undefined
      ? { store: 'process memory', max_store_bytes: maxStoreBytes }
      : { store: withoutCredentials(storeUrl) }
  const limits = {
    max_memory_bytes: maxMemoryBytes,
    max_body_bytes: maxBodyBytes,
    max_connections: maxConnections,
  }
  log.info({ version: readVersion(), url, ...store, ...limits }, `listening on ${url}`)
}

/**
 * How many connections the process has descriptors for, to be asked once everything is loaded; at least
 * one. Where the system does not tell (only Linux does, proc(5)), the number wanted.
 * @param maxConnections the number wanted.
 */
function affordableConnections(maxConnections: number): number {
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8')
    const limit = Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY)
    const used = readdirSync('/proc/self/fd').length
    return Math.max(1, Math.min(maxConnections, limit - used - reservedDescriptors))
  } catch {
    return maxConnections
  }
}
