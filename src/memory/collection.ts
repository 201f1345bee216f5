/**
 * Collects garbage that V8 would not collect by itself. Only for a process that does nothing but serve: this code sets
 * a V8 flag and collects the whole heap. A library must not do so in its host program.
 *
 * @module
 */

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

export interface Collection {
  /** Resident memory of the process in bytes, measured at most a second ago. */
  readonly residentBytes: number
  /** Counts bytes of request bodies that have been received. */
  bodyReceived(bytes: number): void
  stop(): void
}

/** Collects all garbage or, with the type `minor`, only the garbage among new objects. */
type Collect = (options?: { type: 'minor' }) => void

/** Time between two samples of memory and CPU time, in milliseconds. */
const sampleInterval = 1_000

/** Number of samples between two full collections while too much memory is in use. */
const collectEvery = 5

/** CPU time between two samples, in microseconds. A process that uses less CPU time is idle. */
const idleTime = 50_000

/**
 * Growth of the memory outside V8's heap, in bytes, after which an idle process collects garbage. Large bodies and
 * deleted large items cause this growth. Small requests leave little garbage.
 */
const idleGrowth = 16 * 1024 * 1024

/**
 * Number of idle samples after which garbage is collected once more. After a busy time, V8 keeps up to 16 MiB for
 * new objects. A collection releases this memory only if the previous collection was at least five seconds earlier.
 */
const settledAfter = 10

/**
 * Number of bytes of request bodies after which the garbage among new objects is collected. V8 would let unused pieces
 * of bodies take up to 32 MiB. After these pieces are freed, glibc keeps most of this memory if the memory behind it is
 * still in use.
 */
const collectedBytes = 4 * 1024 * 1024

/**
 * Time from the start to the first full collection, in milliseconds. Otherwise, V8 would collect the whole heap while
 * the service handles its first large body, which would delay other requests by about 12 ms.
 */
const firstCollection = 200

/**
 * Starts to measure memory and to collect garbage at regular intervals.
 * @param maxBytes resident memory above which garbage is collected even in a busy process.
 * @param itemBytes returns the size of the items in this process, in bytes. Items are not garbage.
 */
export function startCollection(maxBytes: number, itemBytes: () => number): Collection {
  let collector: Collect | undefined
  let { resident, outside } = memoryNow()
  /** Memory outside V8's heap after the last collection, excluding the items, in bytes. */
  let cleanBytes = outside
  let hasJustCollected = false
  /** Whether garbage has been collected since the last long idle time of the process. */
  let isUnsettled = false
  let idleSamples = 0
  let samplesAboveMaximum = 0
  let used = process.cpuUsage()
  let receivedBytes = 0

  /** Collects garbage. The collector is created by the first call, so that the process starts faster. */
  const collect: Collect = (options) => {
    collector ??= garbageCollector()
    collector(options)
  }

  function wasIdle(): boolean {
    const { user, system } = process.cpuUsage(used)
    used = process.cpuUsage()
    return user + system < idleTime
  }

  const timer = setInterval(() => {
    ;({ resident, outside } = memoryNow())
    const otherBytes = outside - itemBytes()
    if (hasJustCollected) cleanBytes = otherBytes
    idleSamples = wasIdle() ? idleSamples + 1 : 0
    const settles = isUnsettled && idleSamples >= settledAfter
    const hasGrown = idleSamples > 0 && otherBytes > cleanBytes + idleGrowth
    hasJustCollected = !hasJustCollected && (hasGrown || settles)
    if (hasJustCollected) {
      collect()
      isUnsettled = !settles
    }
    if (resident <= maxBytes) return
    // V8 may keep garbage for as long as the program allocates little. A service that rejects requests because of this
    // garbage allocates little, so the service would never recover.
    if (samplesAboveMaximum % collectEvery === 0) collect()
    samplesAboveMaximum += 1
  }, sampleInterval)
  timer.unref()
  const first = setTimeout(collect, firstCollection)
  first.unref()

  return {
    get residentBytes() {
      return resident
    },
    bodyReceived(bytes) {
      receivedBytes += bytes
      if (receivedBytes < collectedBytes) return
      receivedBytes = 0
      collect({ type: 'minor' })
    },
    stop() {
      clearInterval(timer)
      clearTimeout(first)
    },
  }
}

/**
 * Returns the resident memory in bytes, in total and outside V8's heap. Both numbers are 0 if no file descriptor is
 * free.
 */
function memoryNow(): { resident: number; outside: number } {
  try {
    const { rss, heapTotal } = process.memoryUsage()
    return { resident: rss, outside: rss - heapTotal }
  } catch {
    return { resident: 0, outside: 0 }
  }
}

/**
 * Returns V8's function `gc`, which otherwise requires a command-line flag. A session of
 * `node:inspector` could collect garbage too, but would make `nextTick` take five times as long.
 */
function garbageCollector(): Collect {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc')
}
