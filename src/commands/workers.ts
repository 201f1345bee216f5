/**
 * Several processes on one port: starts the workers, replaces those that end, and stops them all.
 *
 * @module
 */

import cluster, { type Worker } from 'node:cluster'
import { setMaxListeners } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Config } from '../config.js'
import { mebibyte, timesInHeap } from '../memory-shares.js'
import { UsageError } from '../usage-error.js'
import { patience, watchHeartbeat } from './heartbeat.js'
import { handleShutdown } from './shutdown.js'
import { type StartOptions, startProblem } from './start.js'
import { type Listening, numberVariable, type Refusal, startWorker } from './worker.js'

/** How a worker ended. */
interface End {
  readonly code: number | null
  /** Its exit code, the signal that ended it, or why it could not be started, in words. */
  readonly reason: string
}

/** Time from one start of a worker to the next, at least, in milliseconds: at first and at last. */
const pauses = { first: 1_000, last: 30_000 }

/** A worker that has lived for so long has not ended because of its start, in milliseconds. */
const calm = 60_000

/** Smallest heap that a worker gets, in MiB; idle, it has 15. */
const smallestHeap = 64

/** How much later than a worker this process may get a signal that is for all, in milliseconds. */
const signalTime = 1_000

/** How long a worker has for its metrics, beyond `STORE_TIMEOUT`, in milliseconds. */
const answerTime = 1_000

/**
 * Serves with several processes until a signal stops them. This one only starts them and hands them
 * their connections; in one of them, it serves.
 * @returns the log; `undefined` in a worker.
 * @throws {UsageError} if the settings do not fit this machine.
 */
export async function startWorkers(
  config: Config,
  options: StartOptions,
): Promise<Logger | undefined> {
  if (cluster.isWorker) {
    await startWorker(config, options)
    return undefined
  }
  const { createLog } = await import('../log.js')
  const log = createLog(config.logLevel, options.isReadable)
  const metricsServer = await listenForMetrics(config)
  const stopping = new AbortController()
  setMaxListeners(0, stopping.signal) // one for each worker that is to be replaced
  const running = new Set<Worker>()
  const [online, serving] = [new WeakSet<Worker>(), new WeakSet<Worker>()]
  let announced: string | undefined

  function fork(number: number): Worker {
    const worker = cluster.fork({ [numberVariable]: String(number) })
    running.add(worker)
    worker.once('online', () => online.add(worker))
    void ended(worker).then(() => running.delete(worker))
    // Something could not be sent, as the worker is ending; `ended` tells that.
    worker.on('error', () => undefined)
    closeLostConnection(worker)
    watchHeartbeat(worker, () => {
      log.error({ worker: number }, `worker has not responded for ${patience} s: killing it`)
      worker.process.kill('SIGKILL')
    })
    return worker
  }

  /** Again only if all workers ended at once and the port was not fixed. */
  function announce(url: string): void {
    if (url !== announced) log.info({ url }, `listening on ${url}`)
    announced = url
  }

  async function untilServing(worker: Worker): Promise<string | UsageError | End> {
    const result = await listening(worker)
    if (typeof result === 'string') serving.add(worker)
    return result
  }

  /** @throws {UsageError} if it refuses; if it ends, this process ends. */
  async function urlOf(worker: Worker): Promise<string> {
    const result = await untilServing(worker)
    if (typeof result === 'string') return result
    if (result instanceof UsageError) throw result
    if (result.code === null) {
      await delay(signalTime, undefined, { signal: stopping.signal }).catch(() => undefined)
    }
    return stopping.signal.aborted ? '' : giveUp(result, log)
  }

  /** Nothing is left that keeps this process running. */
  function abandon(): void {
    stopping.abort()
    for (const worker of running) worker.process.kill('SIGKILL')
    metricsServer?.close()
  }

  /** Keeps a worker with this number running until the service stops. */
  async function keepRunning(number: number, first: Worker): Promise<void> {
    let [worker, pause] = [first, pauses.first]
    for (;;) {
      const startedAt = performance.now()
      const { reason } = await ended(worker)
      if (stopping.signal.aborted) return
      const lived = performance.now() - startedAt
      const wait = Math.max(0, Math.round(pause - lived))
      log.error({ worker: number, wait }, `worker ended with ${reason}`)
      await delay(wait, undefined, { signal: stopping.signal }).catch(() => undefined)
      if (stopping.signal.aborted) return
      pause = nextPause(pause, lived)
      worker = fork(number)
      void untilServing(worker).then((result) => {
        if (result instanceof UsageError) {
          log.error({ worker: number }, `worker cannot start: ${result.message}`)
          worker.process.kill('SIGKILL')
        }
        if (typeof result !== 'string') return
        log.info({ worker: number }, 'worker replaced')
        announce(result)
      })
    }
  }

  async function stop(): Promise<void> {
    stopping.abort()
    const ends = [...running].map(async (worker) => ({ worker, ...(await ended(worker)) }))
    for (const worker of running) {
      // One that runs no code yet would fail to use the channel, with a stack on standard error.
      if (!online.has(worker)) worker.process.kill('SIGKILL')
      else if (worker.isConnected()) closeChannel(worker)
    }
    for (const { worker, code, reason } of await Promise.all(ends)) {
      // One that only starts may not ignore yet the signal that all of them got.
      if (code !== 0 && serving.has(worker)) throw new Error(`a worker ended with ${reason}`)
    }
    metricsServer?.close()
  }

  process.on('exit', () => {
    for (const worker of running) worker.process.kill('SIGKILL')
  })
  handleShutdown(stop, config.shutdownTimeout, log)
  cluster.setupPrimary({ execArgv: [...process.execArgv, ...heapFlags(config.workers)] })

  const workers = Array.from({ length: config.workers }, (_, place) => fork(place + 1))
  try {
    const [url = ''] = await Promise.all(workers.map(urlOf))
    if (stopping.signal.aborted) return undefined
    announce(url)
  } catch (error) {
    abandon()
    throw error
  }
  for (const [place, worker] of workers.entries()) void keepRunning(place + 1, worker)
  return log
}

/** How long to wait until a worker that has ended is started again, from its last start on. */
export function nextPause(pause: number, lived: number): number {
  return lived >= calm ? pauses.first : Math.min(2 * pause, pauses.last)
}

async function listenForMetrics(config: Config) {
  const { metricsPort, metricsHost, storeTimeout } = config
  if (metricsPort === undefined) return undefined
  const { serveMetrics } = await import('../watch/metrics.js')
  const { collectMetrics } = await import('../watch/worker-metrics.js')
  const metrics = collectMetrics(storeTimeout + answerTime)
  return await serveMetrics(metrics, metricsPort, metricsHost).catch((error: unknown) => {
    throw startProblem(error, config) ?? error
  })
}

/**
 * The heap of one process, divided; a size that the user has given counts for each worker.
 */
function heapFlags(workers: number): string[] {
  const given = [...process.execArgv, process.env.NODE_OPTIONS].join(' ')
  if (/--max[-_](old[-_]space|heap)[-_]size/.test(given)) return []
  const size = Math.max(smallestHeap, timesInHeap(workers * mebibyte))
  return [`--max-old-space-size=${size}`]
}

/**
 * Makes a worker stop. Where all are told in one go, the port is closed before the first of them learns
 * of it and tells its clients to connect anew: `disconnect` of the process takes effect later, that of
 * the worker only takes the port from it, since nothing can be sent to it any more.
 */
function closeChannel(worker: Worker): void {
  worker.process.disconnect()
  worker.disconnect()
}

/**
 * Closes the connection that is being handed to a worker when it ends. Node.js would leave it open, and
 * its client without an answer; one that the worker has taken is not open here any more.
 */
function closeLostConnection({ process: child }: Worker): void {
  const { send } = child
  let latest: unknown
  Object.assign(child, {
    send(...args: unknown[]) {
      latest = args[1] ?? latest
      return Reflect.apply(send, child, args)
    },
  })
  const close = () => Object(latest).close?.()
  child.once('exit', close).once('disconnect', close) // which does not come after a half sent message
}

/** Waits until a worker listens, and gives its URL, until it says why it cannot, or until it has ended. */
function listening(worker: Worker): Promise<string | UsageError | End> {
  return new Promise((resolve) => {
    worker.on('message', (message) => {
      const { url, problem }: Partial<Listening & Refusal> = Object(message)
      if (url !== undefined) resolve(url)
      if (problem !== undefined) resolve(new UsageError(problem))
    })
    void ended(worker).then(resolve)
  })
}

function ended(worker: Worker): Promise<End> {
  const { process: child } = worker
  return new Promise((resolve) => {
    const finish = (code: number | null, signal: string | null) =>
      resolve({ code, reason: signal ?? `code ${code}` })
    if (worker.isDead()) finish(child.exitCode, child.signalCode)
    worker.once('exit', finish)
    worker.once('error', ({ message }) => {
      if (child.pid === undefined) resolve({ code: null, reason: message })
    })
  })
}

/** Ends this process as the worker did that could not start, which has said why. */
function giveUp({ code, reason }: End, log: Logger): never {
  if (code === null) log.fatal(`a worker ended with ${reason} before it could serve`)
  process.exit(code || 1)
}
