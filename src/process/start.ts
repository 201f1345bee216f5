/** Serves as a process of its own, until a signal stops it. @module */

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
    serveFirst()
    const url = await service.listen()
    const stop = async () => {
      await service.stop(lastRequestGrace)
      load.stop()
      await store.close()
    }
    handleShutdown(stop, config.shutdownTimeout, log)
    // A supervisor that reads this line may send a signal at once.
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
 * Returns for how many connections the process has descriptors, at least one; called once everything is loaded. Where
 * the system does not tell (only Linux does, proc(5)), returns the number wanted.
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

/** Memory that the first hundred requests take, in bytes: 15 MiB were measured. */
const reserve = 16 * 1024 ** 2

/**
 * A process that exceeds its limit while idle would refuse every request, so it does not start. One that
 * would exceed it only with a full store gets a warning, because the store may never fill up.
 * @param idleBytes resident memory of the process before it serves.
 * @returns the warning.
 * @throws {UsageError}
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

/** Rounded up, so that it is enough as a limit. */
function inMebibytes(bytes: number): string {
  return `${Math.ceil(bytes / 1024 ** 2)}MiB`
}

/**
 * Signals that ask the process to end. All others are left to the platform: with a JavaScript handler for
 * SIGSEGV, for example, a process that crashes would wait for it forever.
 */
const signals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

/**
 * A signal within this time of the first is taken for a repetition: Ctrl-C in a terminal also reaches
 * npm, which passes it on, and service managers may send SIGHUP after SIGTERM.
 */
const repeatTime = 100 // milliseconds

/**
 * Ends the process on signals and uncaught errors. A signal stops the service and ends the process with exit code 0; a
 * second one ends it at once, with 1. An uncaught error is logged and stops the service with exit code 1.
 * @param stop answers the requests already accepted.
 * @param timeout in seconds; if `stop` takes longer, the process ends anyway, with exit code 1.
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
  // Unhandled rejections are raised as uncaught exceptions, too.
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
