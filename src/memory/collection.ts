/**
 * Collects garbage where V8 would leave it. This is for a process that serves and does nothing else: it sets a flag
 * of V8 and collects the whole heap, which a library must not do to the program around it.
 *
 * @module
 */

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

export interface Collection {
  /** Resident memory of the process in bytes, at most a second old. */
  readonly residentBytes: number
  /** Counts bytes of request bodies that have been received. */
  bodyReceived(bytes: number): void
  stop(): void
}

/** Collects all garbage, or only that among new objects. */
type Collect = (options?: { type: 'minor' }) => void

/** How often memory is measured, in milliseconds. */
const sampleInterval = 1_000

/** While too much memory is in use, all garbage is collected at every fifth sample. */
const collectEvery = 5

/** CPU time of an idle process between two samples, in microseconds, at most. */
const idleTime = 50_000

/**
 * Growth of memory outside of V8's heap after which an idle process collects its garbage, in bytes. Deleted large items
 * and bodies leave that much; small requests leave little there.
 */
const idleGrowth = 16 * 1024 * 1024

/**
 * Number of idle samples after which garbage is collected once more. After a busy time, V8 keeps up to 16 MiB for new
 * objects; it releases them at a collection that no other one precedes within five seconds.
 */
const settledAfter = 10

/**
 * Bytes of bodies after which garbage among new objects is collected. V8 lets pieces of bodies that are not needed any
 * more grow to 32 MiB, and glibc keeps most of that as soon as longer-lived memory follows it.
 */
const collectedBytes = 4 * 1024 * 1024

/**
 * Starts to measure memory and to collect garbage.
 * @param maxBytes resident memory above which garbage is collected although the process is busy.
 * @param itemBytes returns the memory of the items in this process, none of which is garbage.
 */
export function startCollection(maxBytes: number, itemBytes: () => number): Collection {
  let collector: Collect | undefined
  let { resident, outside } = memoryNow()
  /** Memory outside of the heap, apart from the items, that was left after the last collection. */
  let cleanBytes = outside
  let hasJustCollected = false
  /** Whether garbage has been collected since the process had last been idle for long. */
  let isUnsettled = false
  let idleSamples = 0
  let samplesAboveMaximum = 0
  let used = process.cpuUsage()
  let receivedBytes = 0

  /** Makes the collector at first use, to start faster. */
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
    // V8 may keep garbage for as long as little is allocated: forever, in a service that refuses its requests
    // because of that garbage.
    if (samplesAboveMaximum % collectEvery === 0) collect()
    samplesAboveMaximum += 1
  }, sampleInterval)
  timer.unref()

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
    stop: () => clearInterval(timer),
  }
}

/** Returns resident memory in bytes: all, and the part outside of V8's heap. Zeros without a free file descriptor. */
function memoryNow(): { resident: number; outside: number } {
  try {
    const { rss, heapTotal } = process.memoryUsage()
    return { resident: rss, outside: rss - heapTotal }
  } catch {
    return { resident: 0, outside: 0 }
  }
}

/**
 * Returns V8's `gc` without a flag at the start of the process. A session of `node:inspector` could collect garbage
 * too, but makes `nextTick` take five times as long.
 */
function garbageCollector(): Collect {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc')
}
