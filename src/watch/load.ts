/** Measures the load of the process, and refuses requests while it is too high. @module */

import { Session } from 'node:inspector'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Guard } from '../http/exchange.js'
import { ApiError, type Excess } from '../interface/errors.js'

export interface LoadLimits {
  /** Mean event loop delay of the last second, in milliseconds. */
  readonly maxEventLoopDelay: number
  /** Resident memory of the process, in bytes. */
  readonly maxMemoryBytes: number
}

export interface Load {
  /** The limit that the process exceeds, if any. */
  excess(): Excess | undefined
  /** Refuses requests while the process exceeds a limit, except deletes, which make room. */
  readonly refuseOverload: Guard
  /** Ends the measurement. */
  stop(): void
}

/** How often the load is measured, in milliseconds. */
const sampleInterval = 1_000

/** How often garbage is collected while too much memory is in use, in samples. */
const collectEvery = 5

/** Resolution of the event loop delay, in milliseconds. */
const resolution = 10

/** Starts measuring. */
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
    // Left to itself, V8 may keep garbage for as long as little is allocated: forever, in a service
    // that refuses its requests because of that garbage.
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

/** In milliseconds. Without a single measurement, the event loop has been blocked all the time. */
function meanDelay(mean: number): number {
  return Number.isNaN(mean) ? sampleInterval : Math.max(0, Math.round(mean / 1e6 - resolution))
}

/** `undefined` if no file can be opened to read it from. */
function residentBytes(): number | undefined {
  try {
    return process.memoryUsage.rss()
  } catch {
    return undefined
  }
}

/** Makes V8 collect all garbage; unlike `global.gc`, this needs no flag. */
function collectGarbage(): void {
  const session = new Session()
  session.connect()
  // Disconnecting within the callback would leave the next session without an answer forever.
  session.post('HeapProfiler.collectGarbage', () => setImmediate(() => session.disconnect()))
}
