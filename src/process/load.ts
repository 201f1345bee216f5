/** Watches the load of the process. @module */

import { Session } from 'node:inspector'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { ExceededLimit } from '../interface/errors.js'

export interface LoadLimits {
  /** Mean event loop delay of the last second, in milliseconds. */
  readonly maxEventLoopDelay: number
  /** Resident memory of the process, in bytes. */
  readonly maxMemoryBytes: number
}

export interface Load {
  /** The limit that the process exceeds, if any. */
  exceededLimit(): ExceededLimit | undefined
  /** Ends the measurement. */
  stop(): void
}

/** How often the load is measured, in milliseconds. */
const sampleInterval = 1_000

/** While too much memory is in use, garbage is collected once every this many samples. */
const collectEvery = 5

/** Resolution of the event loop delay, in milliseconds. */
const resolution = 10

/** Starts measuring. */
export function watchLoad({ maxEventLoopDelay, maxMemoryBytes }: LoadLimits): Load {
  const delays = monitorEventLoopDelay({ resolution })
  delays.enable()
  let exceeded: ExceededLimit | undefined
  let samples = 0

  const timer = setInterval(() => {
    const delay = meanDelay(delays.mean)
    delays.reset()
    const memory = residentBytes() ?? 0
    exceeded = undefined
    if (delay > maxEventLoopDelay) {
      exceeded = { limit: 'MAX_EVENT_LOOP_DELAY', maximum: maxEventLoopDelay, value: delay }
    }
    if (memory <= maxMemoryBytes) return
    exceeded = { limit: 'MAX_MEMORY_BYTES', maximum: maxMemoryBytes, value: memory }
    // Left to itself, V8 may keep garbage for as long as little is allocated: forever, in a service
    // that refuses its requests because of that garbage.
    if (samples % collectEvery === 0) collectGarbage()
    samples += 1
  }, sampleInterval)
  timer.unref()

  return {
    exceededLimit: () => exceeded,

    stop() {
      clearInterval(timer)
      delays.disable()
    },
  }
}

/** In milliseconds. Without a single measurement, the event loop was blocked the whole time. */
function meanDelay(mean: number): number {
  return Number.isNaN(mean) ? sampleInterval : Math.max(0, Math.round(mean / 1e6 - resolution))
}

/** `undefined` if it cannot be read because the process is out of file descriptors. */
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
  // Disconnecting within the callback would keep the next session waiting forever.
  session.post('HeapProfiler.collectGarbage', () => setImmediate(() => session.disconnect()))
}
