/** A worker: one of several processes that serve on the same port. @module */

import cluster from 'node:cluster'
import type { Config } from '../config.js'
import type { Worker } from '../server.js'
import { UsageError } from '../usage-error.js'
import { startHeartbeat } from './heartbeat.js'
import { ignoreSignals } from './shutdown.js'
import { type StartOptions, start } from './start.js'

/** The variable in the environment of a worker that has its number. */
export const numberVariable = 'ITEM_STORE_WORKER'

/** What a worker says once it serves. */
export interface Listening {
  readonly url: string
}

/** What a worker says if the settings do not fit this machine. */
export interface Refusal {
  readonly problem: string
}

/**
 * Serves until the process that has started this one ends, or closes the channel to it. What keeps this
 * one from serving most likely keeps all workers from it, so that process is told, and tells it once.
 */
export async function startWorker(config: Config, options: StartOptions): Promise<void> {
  ignoreSignals()
  // The channel may end while something is sent. That it has ended comes as 'disconnect' anyway.
  cluster.worker?.on('error', () => undefined)
  startHeartbeat()
  const worker: Worker = {
    number: Number(process.env[numberVariable]),
    async publish(metrics) {
      const { reportMetrics } = await import('../watch/worker-metrics.js')
      return reportMetrics(metrics)
    },
  }
  try {
    const { server } = await start(config, { ...options, worker })
    process.send?.({ url: server.url } satisfies Listening)
  } catch (error) {
    if (error instanceof UsageError) {
      process.send?.({ problem: error.message } satisfies Refusal)
      return // and wait to be killed: at an end of its own, the message might be lost
    }
    outliveChannel()
    process.disconnect()
    throw error
  }
  outliveChannel()
}

/** From now on, the end of the channel is not the end of this process. */
function outliveChannel(): void {
  if (cluster.worker !== undefined) cluster.worker.exitedAfterDisconnect = true
}
