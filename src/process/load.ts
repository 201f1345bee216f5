/** Watches the load of the process. @module */

import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Config } from '../config/settings.js'
import type { ExceededLimit } from '../interface/errors.js'

export interface Load {
  /** The limit that the process exceeds, if any. */
  exceededLimit(): ExceededLimit | undefined
  /** Has to be called with the number of bytes that requests have brought. */
  received(bytes: number): void
  /** Ends the measurement. */
  stop(): void
}

/** How often the load is measured, in milliseconds. */
const sampleInterval = 1_000

/** While too much memory is in use, garbage is collected once every this many samples. */
const collectEvery = 5

/** A process that takes less CPU time than this in a sample is idle, in microseconds. */
const idleTime = 50_000

/**
 * How much more memory outside of V8's heap makes an idle process collect garbage, in bytes: deleted large
 * items, and bodies. Small requests leave little there.
 */
const idleGrowth = 16 * 1024 * 1024

/**
 * After so many idle samples, garbage is collected once more: V8 keeps up to 16 MiB for new objects at a collection
 * that many of them came before, in the last five seconds.
 */
const settledAfter = 10

/**
 * After so many received bytes, garbage among new objects is collected. V8 lets the pieces of bodies that nobody
 * needs any more grow to 32 MiB, and glibc keeps most of that once anything that lasts has come after them.
 */
const collectedBytes = 4 * 1024 * 1024

/** Resolution of the event loop delay, in milliseconds. */
const resolution = 10

/**
 * Starts measuring.
 * @param itemBytes memory of the items that this process holds, none of which is garbage.
 */
export function watchLoad(
  { maxEventLoopDelay, maxMemoryBytes }: Pick<Config, 'maxEventLoopDelay' | 'maxMemoryBytes'>,
  itemBytes = () => 0,
): Load {
  const delays = monitorEventLoopDelay({ resolution })
  delays.enable()
  let exceeded: ExceededLimit | undefined
  let samples = 0
  /** Memory outside of the heap, apart from the items: what was left after the last collection. */
  let cleanBytes = memoryNow().outside
  let isCollected = false
  /** Whether there has been a collection since the process was settled. */
  let isUnsettled = false
  let idleSamples = 0
  let used = process.cpuUsage()
  let receivedBytes = 0

  function wasIdle(): boolean {
    const { user, system } = process.cpuUsage(used)
    used = process.cpuUsage()
    return user + system < idleTime
  }

  const timer = setInterval(() => {
    const delay = meanDelay(delays.mean)
    delays.reset()
    const { resident: memory, outside } = memoryNow()
    const otherBytes = outside - itemBytes()
    if (isCollected) cleanBytes = otherBytes
    idleSamples = wasIdle() ? idleSamples + 1 : 0
    const settles = isUnsettled && idleSamples >= settledAfter
    const hasGrown = idleSamples > 0 && otherBytes > cleanBytes + idleGrowth
    isCollected = !isCollected && (hasGrown || settles)
    if (isCollected) {
      collectGarbage()
      isUnsettled = !settles
    }
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

    received(bytes) {
      receivedBytes += bytes
      if (receivedBytes < collectedBytes) return
      receivedBytes = 0
      collectGarbage({ type: 'minor' })
    },

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

/** Resident memory in bytes: all, and the part outside of V8's heap. Zeros if the process is out of file descriptors. */
function memoryNow(): { resident: number; outside: number } {
  try {
    const { rss, heapTotal } = process.memoryUsage()
    return { resident: rss, outside: rss - heapTotal }
  } catch {
    return { resident: 0, outside: 0 }
  }
}

/** Nothing for all garbage, or for that among new objects alone. */
type Which = [] | [{ type: 'minor' }]

type Collect = (...which: Which) => void

let collect: Collect | undefined

/** Makes V8 collect garbage. */
function collectGarbage(...which: Which): void {
  collect ??= garbageCollector()
  collect(...which)
}

/**
 * V8's `gc`, without a flag at start. A session of `node:inspector` could do the same, but `nextTick` takes five
 * times as long from then on.
 */
function garbageCollector(): Collect {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc')
}
