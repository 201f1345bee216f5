/** Watches the load of the process. @module */

import { Session } from 'node:inspector'
import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
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

/** A process that spends less of a sample on work than this part of it is idle. */
const idleUtilization = 0.05

/** An idle process collects garbage if it takes this many times the memory that was left the last time. */
const idleGrowth = 1.25

/** Resolution of the event loop delay, in milliseconds. */
const resolution = 10

/**
 * Starts measuring.
 * @param itemBytes memory of the items that this process holds, none of which is garbage.
 */
export function watchLoad(
  { maxEventLoopDelay, maxMemoryBytes }: LoadLimits,
  itemBytes = () => 0,
): Load {
  const delays = monitorEventLoopDelay({ resolution })
  delays.enable()
  let exceeded: ExceededLimit | undefined
  let samples = 0
  /** Memory beside the items, without garbage: what was left after the last collection. */
  let cleanBytes = residentBytes() ?? 0
  let isCollected = false
  let utilization = performance.eventLoopUtilization()

  function wasIdle(): boolean {
    const before = utilization
    utilization = performance.eventLoopUtilization()
    return performance.eventLoopUtilization(utilization, before).utilization < idleUtilization
  }

  const timer = setInterval(() => {
    const delay = meanDelay(delays.mean)
    delays.reset()
    const memory = residentBytes() ?? 0
    const otherBytes = memory - itemBytes()
    if (isCollected) cleanBytes = otherBytes
    // Large items that were deleted, and bodies, are garbage that V8 does not see in its own heap.
    isCollected = wasIdle() && !isCollected && otherBytes > cleanBytes * idleGrowth
    if (isCollected) collectGarbage()
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
