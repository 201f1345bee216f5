/** Serves as a process of its own, until a signal stops it. @module */

import { readdirSync, readFileSync } from 'node:fs'
import type { Logger } from 'pino'
import { version } from '../config/package.js'
import type { Config } from '../config/settings.js'
import { explainListenError } from '../config/usage-error.js'
import type { Doubles } from '../doubles/doubles.js'
import type { parseSeed } from '../doubles/seed.js'
import type { OpenedStore, ServiceParts } from '../service.js'
import { memoryWarning } from './memory.js'
import { handleShutdown } from './shutdown.js'

export interface StartOptions extends Pick<ServiceParts, 'signing' | 'requestLogLevel'> {
  readonly doubles?: Doubles | undefined
  /** Items to store at the start, unless the store already has some. */
  readonly items?: ReturnType<typeof parseSeed>
  /** Whether the log has human-readable lines instead of JSON. */
  readonly isReadable: boolean
}

/** How long clients have to send another request once the service is stopping, in milliseconds. */
const lastRequestGrace = 500

/** Descriptors reserved for everything else: files, metrics, connections about to be refused. */
const reservedDescriptors = 32

/** The service while it listens. */
interface Started {
  /** URL of the service on this machine, without a trailing slash. */
  readonly url: string
  readonly store: OpenedStore['store']
  /** Whether the items to start with were stored: not if the store already had others. */
  readonly isSeeded: boolean
  readonly log: Logger
}

/**
 * Serves until a signal stops it.
 * @throws {UsageError} if the settings do not fit this machine.
 */
export async function start(
  settings: Config,
  { isReadable, signing, requestLogLevel, doubles, items = [] }: StartOptions,
): Promise<Started> {
  const [{ createLog }, { createService, openStore }, { seedEmptyStore }, { watchLoad }] =
    await Promise.all([
      import('./log.js'),
      import('../service.js'),
      import('../doubles/seed.js'),
      import('./load.js'),
    ])
  const log = createLog(settings.logLevel, isReadable)
  // All code is loaded by now, so this is the memory of the idle process.
  const warning = memoryWarning(process.memoryUsage.rss(), {
    maxMemoryBytes: settings.maxMemoryBytes,
    maxStoreBytes: settings.storeUrl === undefined ? settings.maxStoreBytes : 0,
  })
  const maxConnections = affordableConnections(settings.maxConnections)
  const config = { ...settings, maxConnections }
  const { store, description, itemBytes } = await openStore(config, log)
  try {
    const isSeeded = await seedEmptyStore(store, items)
    const load = watchLoad(config, itemBytes)
    const parts = { store, log, signing, requestLogLevel, load, doubles }
    const service = createService(config, parts)
    const url = await service.listen()
    const stop = async () => {
      await service.stop(lastRequestGrace)
      load.stop()
      await store.close()
    }
    handleShutdown(stop, config.shutdownTimeout, log)
    // A supervisor that reads this line may send a signal at once.
    log.info({ version, url, ...description, ...limitFields(config) }, `listening on ${url}`)
    if (warning !== undefined) log.warn(warning)
    if (maxConnections < settings.maxConnections) {
      log.warn(
        `MAX_CONNECTIONS is ${settings.maxConnections}, but the limit on open files (ulimit -n) leaves room for ${maxConnections}; no more are accepted`,
      )
    }
    return { url, store, isSeeded, log }
  } catch (error) {
    await store.close()
    throw explainListenError(error, config, '--')
  }
}

function limitFields({ maxMemoryBytes, maxBodyBytes, maxConnections }: Config) {
  return {
    max_memory_bytes: maxMemoryBytes,
    max_body_bytes: maxBodyBytes,
    max_connections: maxConnections,
  }
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
