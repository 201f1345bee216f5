/** Collects the garbage of the whole process when it is idle or short of memory. Not for use in a library. @module */

import { Session } from 'node:inspector'

/** Interval at which memory and CPU time are sampled, in milliseconds. */
const sampleInterval = 1_000

/** Number of memory samples between two full collections while too much memory is in use. */
const collectEvery = 5

/** Maximum CPU time that an idle process uses between two samples, in microseconds. */
const idleTime = 50_000

/** Growth of memory after which an idle process collects garbage, in bytes. */
const idleGrowth = 16 * 1024 * 1024

/** @param maxBytes resident memory in bytes above which even a busy process collects garbage. */
export function startCollection(maxBytes: number, storeBytes: () => number) {
  const collect = garbageCollector()
  let resident = residentNow()
  /** Memory after the latest garbage collection, excluding the items, in bytes. */
  let cleanBytes = resident
  let hasJustCollected = false
  let samplesAboveMaximum = 0
  let used = process.cpuUsage()
  const timer = setInterval(() => {
    resident = residentNow()
    const otherBytes = resident - storeBytes()
    if (hasJustCollected) cleanBytes = otherBytes
    const { user, system } = process.cpuUsage(used)
    used = process.cpuUsage()
    const isIdle = user + system < idleTime
    hasJustCollected = !hasJustCollected && isIdle && otherBytes > cleanBytes + idleGrowth
    if (hasJustCollected) collect()
    if (resident <= maxBytes) return
    // V8 collects no garbage while the service rejects requests, so without this call, it would never recover.
    if (samplesAboveMaximum % collectEvery === 0) collect()
    samplesAboveMaximum += 1
  }, sampleInterval).unref()

  return {
    /** Resident memory of the process in bytes, measured at most a second ago. */
    get residentBytes() {
      return resident
    },
    stop() {
      clearInterval(timer)
    },
  }
}

/** Returns resident memory in bytes; 0 if no file descriptor is free. */
function residentNow() {
  try {
    return process.memoryUsage.rss()
  } catch {
    return 0
  }
}

/** Returns a function that collects all garbage, twice, and frees spare memory. It needs no flag of V8. */
function garbageCollector() {
  const session = new Session()
  try {
    session.connect()
  } catch {
    // Node's permission model forbids it without `--allow-inspector`. V8 alone then decides when to collect.
    return () => undefined
  }
  return () => session.post('HeapProfiler.collectGarbage')
}
