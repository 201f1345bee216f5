/** Runs the service as a separate process until a signal stops it. @module */

import { readdirSync, readFileSync } from 'node:fs'
import type { Logger } from 'pino'
import { formatSize } from '../config/kinds.js'
import { version } from '../config/package.js'
import type { Config } from '../config/settings.js'
import { explainListenError, UsageError } from '../config/usage-error.js'
import type { Doubles } from '../doubles/doubles.js'
import type { parseSeed } from '../doubles/seed.js'
import type { OpenedStore, ServiceParts } from '../service.js'
import { serveFirst } from './threads.js'

export interface StartOptions extends Pick<ServiceParts, 'signing' | 'requestLogLevel'> {
  readonly doubles?: Doubles | undefined
  /** Items to store when the process starts, unless the store already has items. */
  readonly items?: ReturnType<typeof parseSeed>
  /** Whether the log has human-readable lines instead of JSON. */
  readonly isReadable: boolean
}

/** Time for which clients may still send a request after the service has begun to stop, in milliseconds. */
const lastRequestGrace = 500

/** Number of file descriptors reserved for files, for metrics, and for connections that are about to be refused. */
const reservedDescriptors = 32

interface Started {
  /** URL of the service on this machine, without a trailing slash. */
  readonly url: string
  readonly store: OpenedStore['store']
  /** `false` if the seed items were not stored, because the store already had items. */
  readonly isSeeded: boolean
  readonly log: Logger
}

/**
 * Starts the service, which runs until a signal stops it.
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
  // All code is loaded at this point, so the resident memory is the memory of the idle process.
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
    serveFirst()
    const url = await service.listen()
    const stop = async () => {
      await service.stop(lastRequestGrace)
      load.stop()
      await store.close()
    }
    handleShutdown(stop, config.shutdownTimeout, log)
    // A supervisor that reads this line may send a signal immediately.
    const limits = {
      max_memory_bytes: config.maxMemoryBytes,
      max_body_bytes: config.maxBodyBytes,
      max_connections: maxConnections,
    }
    log.info({ version, url, ...description, ...limits }, `listening on ${url}`)
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

/**
 * Returns the number of connections for which the process has file descriptors: at least 1, at most `maxConnections`.
 * Must be called once all code is loaded. Returns `maxConnections` if the system does not report the maximum number of
 * descriptors (only Linux does, proc(5)).
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

/** Memory reserved for the first hundred requests, in bytes. In a measurement, a hundred requests took 15 MiB. */
const reserve = 16 * 1024 ** 2

/**
 * Checks the memory limit. A process that exceeds the limit while idle would refuse every request, so it must not
 * start. A process that would exceed the limit only with a full store gets a warning, because the store may never be
 * full.
 * @param idleBytes resident memory of the process before the first request.
 * @returns the warning, if there is one.
 * @throws {UsageError} if the process would exceed the limit while idle.
 */
export function memoryWarning(
  idleBytes: number,
  { maxMemoryBytes, maxStoreBytes }: Pick<Config, 'maxMemoryBytes' | 'maxStoreBytes'>,
): string | undefined {
  const idle = `the idle process alone takes ${inMebibytes(idleBytes)}`
  const limit = `MAX_MEMORY_BYTES is ${formatSize(maxMemoryBytes)}`
  if (idleBytes + reserve > maxMemoryBytes) {
    const minimum = inMebibytes(idleBytes + reserve)
    throw new UsageError(
      `${limit}, but ${idle}: item requests would be refused; allow at least ${minimum}`,
    )
  }
  if (idleBytes + maxStoreBytes <= maxMemoryBytes) return undefined
  return `${limit}, but ${idle} and MAX_STORE_BYTES is ${formatSize(maxStoreBytes)}: item requests may get 503 before the store is full`
}

/** Formats a size in MiB. The size is rounded up, so that a limit of this size is high enough. */
function inMebibytes(bytes: number): string {
  return `${Math.ceil(bytes / 1024 ** 2)}MiB`
}

/**
 * Signals that ask the process to end. Other signals get no handler. A JavaScript handler for SIGSEGV, for example,
 * would make a crashing process hang forever.
 */
const signals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

/**
 * Time for which further signals are ignored after the first signal, in milliseconds. Ctrl-C in a terminal also reaches
 * npm, which then repeats the signal. Service managers may send SIGHUP after SIGTERM.
 */
const repeatTime = 100

/**
 * Ends the process after signals and uncaught errors. A signal stops the service and ends the process with exit code 0.
 * A second signal ends the process immediately with exit code 1. An uncaught error is logged, and stops the service
 * with exit code 1.
 * @param stop stops the service after the accepted requests have been answered.
 * @param timeout maximum time for `stop`, in seconds. After this time, the process ends with exit code 1.
 */
export function handleShutdown(stop: () => Promise<void>, timeout: number, log: Logger): void {
  let stoppedAt: number | undefined
  let exitCode = 0

  for (const signal of signals) {
    process.on(signal, () => {
      if (stoppedAt === undefined) {
        log.info(`${signal}: stopping`)
        end()
      } else if (performance.now() - stoppedAt > repeatTime) {
        log.error(`second signal, ${signal}: exiting at once`)
        process.exit(1)
      }
    })
  }
  // Node.js also raises unhandled promise rejections as uncaught exceptions.
  process.on('uncaughtException', (err) => {
    exitCode = 1
    log.fatal({ err }, 'uncaught error: stopping')
    end()
  })

  function end(): void {
    if (stoppedAt !== undefined) return
    stoppedAt = performance.now()
    setTimeout(() => {
      log.error(`not stopped within ${timeout} s: exiting at once`)
      process.exit(1)
    }, timeout * 1000)
    stop().then(
      () => process.exit(exitCode),
      (err) => {
        log.fatal({ err }, 'stopping failed')
        process.exit(1)
      },
    )
  }
}
