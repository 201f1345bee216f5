/** Measures the load of the process, and refuses work when there is too much of it. @module */

import { Session } from 'node:inspector'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Guard } from '../http/exchange.js'
import { ApiError, type Excess } from '../interface/errors.js'

export interface LoadLimits {
  /** Mean delay of the event loop over the last second, in milliseconds. */
  readonly maxEventLoopDelay: number
  /** Resident memory of the process, in bytes. */
  readonly maxMemoryBytes: number
}

export interface Load {
  /** The limit that the process is over, or `undefined`. */
  excess(): Excess | undefined
  /** Answers 503 while the process is over a limit, but to what makes room. */
  readonly refuseOverload: Guard
  /** Ends the measurement. */
  stop(): void
}

/** How often the load is measured, in milliseconds. */
const sampleInterval = 1_000

/** How often memory is collected while there is too much in use, in samples. */
const collectEvery = 5

/** Precision of the delay of the event loop, in milliseconds. */
const resolution = 10

/** Starts to measure. */
export function watchLoad({ maxEventLoopDelay, maxMemoryBytes }: LoadLimits): Load {
  const delays = monitorEventLoopDelay({ resolution })
  delays.enable()
  let excess: Excess | undefined
  let samples = 0

  const timer = setInterval(() => {
    const delay = meanDelay(delays.mean)
    delays.reset()
    const memory = residentBytes() ?? 0
    excess = undefined
    if (delay > maxEventLoopDelay) {
      excess = { limit: 'MAX_EVENT_LOOP_DELAY', maximum: maxEventLoopDelay, value: delay }
    }
    if (memory <= maxMemoryBytes) return
    excess = { limit: 'MAX_MEMORY_BYTES', maximum: maxMemoryBytes, value: memory }
    // Left to itself, V8 may keep garbage for as long as little is allocated: for ever, in a service
    // that refuses its requests because of it.
    if (samples % collectEvery === 0) collectGarbage()
    samples += 1
  }, sampleInterval)
  timer.unref()

  return {
    excess: () => excess,

    refuseOverload({ request }) {
      if (excess === undefined || request.method === 'DELETE') return
      throw new ApiError('SERVICE_UNAVAILABLE', 'The service is overloaded', { excess })
    },

    stop() {
      clearInterval(timer)
      delays.disable()
    },
  }
}

/** In milliseconds. Without a single measurement in all the time, the loop has not turned at all. */
function meanDelay(mean: number): number {
  return Number.isNaN(mean) ? sampleInterval : Math.max(0, Math.round(mean / 1e6 - resolution))
}

/** `undefined` when no file can be opened to read it from. */
function residentBytes(): number | undefined {
  try {
    return process.memoryUsage.rss()
  } catch {
    return undefined
  }
}

/** Has V8 give back all memory that it can; unlike `global.gc`, this needs no flag. */
function collectGarbage(): void {
  const session = new Session()
  session.connect()
  // Not disconnected within the callback, as the next session would then never be answered.
  session.post('HeapProfiler.collectGarbage', () => setImmediate(() => session.disconnect()))
}
