/** Runs the service in a process of its own until a signal stops it. @module */

import { readdirSync, readFileSync } from 'node:fs'
import type { Logger } from 'pino'
import { formatSize } from '../config/kinds.js'
import { version } from '../config/package.js'
import type { Config } from '../config/settings.js'
import { explainListenError, UsageError } from '../config/usage-error.js'
import { mebibyte } from '../memory/shares.js'
import { createService, openStore, type ServiceParts } from '../service.js'
import { watchLoad } from './load.js'
import { createLog } from './log.js'

interface StartOptions extends Pick<ServiceParts, 'signing' | 'requestLogLevel' | 'control'> {
  readonly doubles?: ServiceParts['doubles']
  readonly seed?: (store: ServiceParts['store']) => Promise<boolean>
  readonly isReadable: boolean
  readonly opening?: Promise<string> | undefined // line to print before the log, which waits for it
}

const lastRequestGrace = 500 // ms in which clients may still send requests after shutdown has begun
const reservedDescriptors = 32 // for files, metrics, and connections that will be refused

/**
 * Starts the service. Returns its `url` on this machine, and as `isSeeded` what `seed` returned.
 * @throws {UsageError} if the settings do not suit this machine.
 */
export async function start(
  settings: Config,
  { isReadable, opening, seed, ...parts }: StartOptions,
) {
  const log = createLog(settings.logLevel, isReadable, opening)
  // All code has been loaded by now, so the process uses as much memory as when idle.
  const maxItemBytes = settings.storeUrl === undefined ? settings.maxStoreBytes : 0
  const warning = memoryWarning(process.memoryUsage.rss(), settings.maxMemoryBytes, maxItemBytes)
  const maxConnections = affordableConnections(settings.maxConnections)
  const config = { ...settings, maxConnections }
  const { store, description, storeBytes } = await openStore(config, log)
  const load = watchLoad(config, storeBytes)
  const service = createService(config, { doubles: undefined, ...parts, store, log, load })
  try {
    const isSeeded = await seed?.(store)
    const url = await service.listen()
    const stop = async () => {
      await service.stop(lastRequestGrace)
      load.stop()
    }
    handleShutdown(stop, config.shutdownTimeout, log)
    // Handles signals from here on, because a supervisor may send one as soon as it reads the log line below.
    const limits = {
      max_memory_bytes: config.maxMemoryBytes,
      max_body_bytes: config.maxBodyBytes,
      max_connections: maxConnections,
    }
    log.info({ version, url, ...description, ...limits }, `listening on ${url}`)
    if (warning !== undefined) log.warn(warning)
    if (maxConnections < settings.maxConnections) {
      const limit = `the limit on open files (ulimit -n) leaves room for ${maxConnections}`
      log.warn(`MAX_CONNECTIONS is ${settings.maxConnections}, but ${limit}; no more are accepted`)
    }
    return { url, store, isSeeded, log }
  } catch (error) {
    await service.stop(0)
    throw explainListenError(error, config.port, config.host, '--')
  }
}

/** Returns how many connections the file descriptor limit of a Linux process allows (proc(5)). */
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

const reserve = 16 * mebibyte // in bytes; the first hundred requests took 15 MiB
const storeFactor = 4 / 3 // memory of small items per byte of `MAX_STORE_BYTES` (docs/reference/capacity.md)

/** Returns a warning if a full store may exceed the memory limit. @throws {UsageError} if the idle process does. */
export function memoryWarning(
  idleBytes: number,
  maxMemoryBytes: number,
  maxStoreBytes: number,
): string | undefined {
  const idleSize = Math.ceil(idleBytes / mebibyte)
  const idle = `the idle process alone takes ${idleSize}MiB`
  const limit = `MAX_MEMORY_BYTES is ${formatSize(maxMemoryBytes)}`
  if (idleBytes + reserve > maxMemoryBytes) {
    const advice = `allow at least ${idleSize + reserve / mebibyte}MiB`
    throw new UsageError(`${limit}, but ${idle}: item requests would be refused; ${advice}`)
  }
  if (idleBytes + maxStoreBytes * storeFactor <= maxMemoryBytes) return undefined
  return `${limit}, but ${idle} and MAX_STORE_BYTES is ${formatSize(maxStoreBytes)}, of which a full store takes 4/3: item requests may get 503 before it is full`
}

const repeatTime = 100 // ms; after Ctrl-C, npm sends the signal a second time

/** Stops at a signal. A second signal ends the process at once. @param timeout maximum time for `stop`, in seconds. */
export function handleShutdown(stop: () => Promise<void>, timeout: number, log: Logger): void {
  let stoppedAt: number | undefined
  let exitCode = 0

  // Only signals that ask a process to end: a handler for SIGSEGV would make a crash hang forever.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
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
  // Node.js raises unhandled promise rejections as uncaught exceptions too.
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
