/**
 * Several processes on one port (`node:cluster`): the primary process starts the workers, hands them the
 * connections, replaces those that end, and stops them. Only the workers serve.
 *
 * @module
 */

import cluster, { type Address, type Worker } from 'node:cluster'
import { setMaxListeners } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { mebibyte, timesInHeap } from '../config/memory-shares.js'
import type { Config } from '../config/settings.js'
import { urlOf } from './address.js'
import { createLog } from './log.js'
import { handleShutdown, ignoreSignals } from './shutdown.js'
import { logStart, type StartOptions, start } from './start.js'

/** A worker that runs code can be told to stop; one that listens may have accepted connections. */
type State = 'forked' | 'running' | 'listening'

/** How a worker ended: `reason` is its exit code, the signal, or why it could not be started, in words. */
interface End {
  readonly code: number | null
  readonly reason: string
}

/** The variable in the environment of a worker that has its number, from 1 on. */
const numberVariable = 'ITEM_STORE_WORKER'

/** A worker that has run for so long did not end because of its start, in milliseconds. */
const stableAfter = 60_000

/**
 * How much later than the news that a signal ended a worker the same signal may reach this process, in
 * milliseconds: they are delivered to different threads.
 */
const signalTime = 100

/**
 * Serves with several processes until a signal stops them.
 * @returns the log; `undefined` in a worker, and if a signal came before one listened.
 * @throws {UsageError} if the settings do not fit this machine.
 */
export async function startWorkers(
  config: Config,
  options: StartOptions,
): Promise<Logger | undefined> {
  if (cluster.worker === undefined) return await startPrimary(config, options.isReadable)
  ignoreSignals()
  cluster.worker.on('error', () => undefined) // the channel was closed while metrics were being sent
  try {
    await start(config, { ...options, worker: Number(process.env[numberVariable]) })
  } catch (error) {
    cluster.worker.disconnect()
    throw error
  }
  cluster.worker.exitedAfterDisconnect = true // or node:cluster would end it when the channel is closed
  return undefined
}

/** Starts one worker, then the others. If the first cannot serve, this process ends with its exit code. */
async function startPrimary(config: Config, isReadable: boolean): Promise<Logger | undefined> {
  const log = createLog(config.logLevel, isReadable)
  if (config.metricsPort !== undefined) {
    const { serveWorkerMetrics } = await import('./metrics.js')
    await serveWorkerMetrics({ port: config.metricsPort, host: config.metricsHost })
  }
  const states = new Map<Worker, State>()
  const stopping = new AbortController()
  setMaxListeners(0, stopping.signal) // one for each worker that waits to be replaced

  function fork(number: number): Worker {
    const worker = cluster.fork({ [numberVariable]: String(number) })
    states.set(worker, 'forked')
    worker.once('online', () => states.set(worker, 'running'))
    worker.once('listening', ({ port }) => {
      states.set(worker, 'listening')
      log.info({ worker: number, url: urlOf(config.host, port) }, 'worker listening')
    })
    void ended(worker).then(() => states.delete(worker))
    return worker
  }

  async function keepReplacing(number: number, worker: Worker, pause = 0): Promise<void> {
    const startedAt = performance.now()
    const { reason } = await ended(worker)
    if (stopping.signal.aborted) return
    const wait = nextPause(pause, performance.now() - startedAt)
    log.error({ worker: number, wait }, `worker ended with ${reason}`)
    await delay(wait, undefined, { signal: stopping.signal }).catch(() => undefined)
    if (!stopping.signal.aborted) void keepReplacing(number, fork(number), wait)
  }

  /** A worker stops when its channel is closed, which is also how it learns of the end of this process. */
  async function stop(): Promise<void> {
    stopping.abort()
    const alive = [...states].filter(([worker]) => !worker.isDead())
    const ends = alive.map(async ([worker, state]) => ({ state, ...(await ended(worker)) }))
    for (const [worker, state] of alive) {
      worker.process.disconnect() // takes effect after this turn of the event loop
      worker.disconnect() // takes the port from it, so that no client connects anew to one that stops
      if (state === 'forked') worker.process.kill('SIGKILL') // or it would print that the channel fails
    }
    for (const { state, code, reason } of await Promise.all(ends)) {
      if (state === 'listening' && code !== 0) throw new Error(`a worker ended with ${reason}`)
    }
  }

  process.on('exit', () => {
    for (const worker of states.keys()) worker.process.kill('SIGKILL')
  })
  handleShutdown(stop, config.shutdownTimeout, log)
  cluster.setupPrimary({ execArgv: [...process.execArgv, ...heapFlags(config.workers)] })

  const first = fork(1)
  const result = await listening(first)
  if ('code' in result && result.code === null) {
    await delay(signalTime, undefined, { signal: stopping.signal }).catch(() => undefined)
  }
  if (stopping.signal.aborted) return undefined
  if ('reason' in result) {
    if (result.code === null) log.fatal(`a worker ended with ${result.reason} before it listened`)
    process.exit(result.code || 1)
  }
  const others = Array.from({ length: config.workers - 1 }, (_, place) => fork(place + 2))
  for (const [place, worker] of [first, ...others].entries()) void keepReplacing(place + 1, worker)
  await Promise.all(others.map(listening))
  const url = urlOf(config.host, result.port)
  if (!stopping.signal.aborted) logStart(log, config, url)
  return log
}

/** How long to wait before a worker that ended after `lived` is replaced; all in milliseconds. */
export function nextPause(pause: number, lived: number): number {
  return lived >= stableAfter ? 0 : Math.min(Math.max(1_000, 2 * pause), 30_000)
}

/** The heap of one process, divided, but 64 MiB at least; a size that the user has given counts for each. */
function heapFlags(workers: number): string[] {
  const options = [...process.execArgv, process.env.NODE_OPTIONS].join(' ')
  const isGiven = /--max[-_](old[-_]space|heap)[-_]size/.test(options)
  return isGiven ? [] : [`--max-old-space-size=${Math.max(64, timesInHeap(workers * mebibyte))}`]
}

function listening(worker: Worker): Promise<Address | End> {
  const listens = new Promise<Address>((resolve) => worker.once('listening', resolve))
  return Promise.race([listens, ended(worker)])
}

function ended(worker: Worker): Promise<End> {
  return new Promise((resolve) => {
    worker.once('exit', (code, signal) => resolve({ code, reason: signal ?? `code ${code}` }))
    // The others are of messages to a worker that is ending.
    worker.on('error', ({ message }) => {
      if (worker.process.pid === undefined) resolve({ code: null, reason: message })
    })
  })
}
