/** Collects garbage in the whole process. Not for use in a library, because this module sets a V8 flag. @module */

import { executionAsyncResource } from 'node:async_hooks'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Collects all garbage or, with the type `minor`, only garbage among new objects. */
type Collect = (options?: { type: 'minor' }) => void

/** Interval at which memory and CPU time are sampled, in milliseconds. */
const sampleInterval = 1_000

/** Number of memory samples between two full collections while too much memory is in use. */
const collectEvery = 5

/** Maximum CPU time that an idle process uses between two samples, in microseconds. */
const idleTime = 50_000

/** Growth of memory outside V8's heap after which an idle process collects garbage, in bytes. */
const idleGrowth = 16 * 1024 * 1024

/** Number of idle samples before the next collection, because V8 frees spare memory only 5 s after a collection. */
const settledAfter = 10

/** Number of body bytes received before new objects are collected. Otherwise, received chunks could take 32 MiB. */
const collectedBytes = 4 * 1024 * 1024

/** Time from startup to the first full collection, in ms. If it ran later, it would delay requests by 12 ms. */
const firstCollection = 200

/** V8 flags for machines with one core, where V8's other threads compete with the main thread for the core. */
const singleThreaded = [
  '--no-parallel-scavenge',
  '--no-parallel-compaction',
  '--no-parallel-pointer-update',
  '--no-concurrent-sweeping',
]

/** Length of an array that fills 4 MB of the heap. V8 marks a heap below 8 MB in one go, which takes up to 16 ms. */
const fillingLength = 500_000

/** @param maxBytes resident memory in bytes above which even a busy process collects garbage. */
export function startCollection(maxBytes: number, storeBytes: () => number) {
  for (const flag of singleThreaded) setFlagsFromString(flag)
  const kept: object[] = [new Array<number>(fillingLength).fill(0.5)]
  // Keeps an object that `nextTick` has created. If V8 dropped the hidden class of these objects while the process is
  // idle, each later `nextTick` would take five times as long, and requests a tenth longer (Node.js 20).
  process.nextTick(() => kept.push(executionAsyncResource()))
  let collector: Collect | undefined
  let { resident, outside } = memoryNow()
  /** Memory outside V8's heap after the latest garbage collection, excluding the items, in bytes. */
  let cleanBytes = outside
  let hasJustCollected = false
  let isUnsettled = false
  let idleSamples = 0
  let samplesAboveMaximum = 0
  let used = process.cpuUsage()
  let receivedBytes = 0

  const collect: Collect = (options) => {
    collector ??= garbageCollector()
    collector(options)
  }

  const timer = setInterval(() => {
    ;({ resident, outside } = memoryNow())
    const otherBytes = outside - storeBytes()
    if (hasJustCollected) cleanBytes = otherBytes
    const { user, system } = process.cpuUsage(used)
    used = process.cpuUsage()
    idleSamples = user + system < idleTime ? idleSamples + 1 : 0
    const settles = isUnsettled && idleSamples >= settledAfter
    const hasGrown = idleSamples > 0 && otherBytes > cleanBytes + idleGrowth
    hasJustCollected = !hasJustCollected && (hasGrown || settles)
    if (hasJustCollected) {
      collect()
      isUnsettled = !settles
    }
    if (resident <= maxBytes) return
    // V8 collects no garbage while the service rejects requests, so without this call, it would never recover.
    if (samplesAboveMaximum % collectEvery === 0) collect()
    samplesAboveMaximum += 1
  }, sampleInterval).unref()
  const first = setTimeout(collect, firstCollection).unref()

  return {
    /** Resident memory of the process in bytes, measured at most a second ago. */
    get residentBytes() {
      return resident
    },
    bodyReceived(bytes: number) {
      receivedBytes += bytes
      if (receivedBytes < collectedBytes) return
      receivedBytes = 0
      collect({ type: 'minor' })
    },
    stop() {
      kept.length = 0
      clearInterval(timer)
      clearTimeout(first)
    },
  }
}

/** Returns resident memory in bytes, in total and outside V8's heap; 0 if no file descriptor is free. */
function memoryNow(): { resident: number; outside: number } {
  try {
    const { rss, heapTotal } = process.memoryUsage()
    return { resident: rss, outside: rss - heapTotal }
  } catch {
    return { resident: 0, outside: 0 }
  }
}

function garbageCollector(): Collect {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc')
}
