/** Collects the garbage of the whole process when it is idle or short of memory. Not for use in a library. @module */

import { executionAsyncResource } from 'node:async_hooks'
import { Session } from 'node:inspector'

const sampleInterval = 1_000 // in ms, for memory and CPU time
const collectEvery = 5 // samples while too much memory is in use
const idleTime = 50_000 // µs of CPU time between two samples, at most
const idleSamples = 10 // in a row before it: V8 then discards optimized code, and creates take 37 µs instead of 23
const idleGrowth = 16 * 1024 * 1024 // bytes, after which an idle process collects garbage

/** @param maxBytes resident memory above which even a busy process collects garbage. */
export function startCollection(maxBytes: number, storeBytes: () => number) {
  const collect = garbageCollector()
  // Keeps an object that `nextTick` has created. If V8 dropped the hidden class of these objects while the process is
  // idle, each later `nextTick` would take three to five times as long (Node.js 20, 24).
  const kept: object[] = []
  process.nextTick(() => kept.push(executionAsyncResource()))
  let resident = residentNow()
  let cleanBytes = resident // after the latest collection, without the items
  let hasJustCollected = false
  let quiet = 0 // idle samples in a row
  let samplesAboveMaximum = 0
  let used = process.cpuUsage()
  const timer = setInterval(() => {
    resident = residentNow()
    const otherBytes = resident - storeBytes()
    if (hasJustCollected) cleanBytes = otherBytes
    const { user, system } = process.cpuUsage(used)
    used = process.cpuUsage()
    quiet = user + system < idleTime ? quiet + 1 : 0
    hasJustCollected = quiet === idleSamples && otherBytes > cleanBytes + idleGrowth
    if (hasJustCollected) collect()
    if (resident <= maxBytes) return
    // V8 collects no garbage while requests are rejected, so the service would never recover.
    if (samplesAboveMaximum % collectEvery === 0) collect()
    samplesAboveMaximum += 1
  }, sampleInterval).unref()

  return {
    /** Resident memory in bytes, at most a second old. */
    get residentBytes() {
      return resident
    },
    stop() {
      kept.length = 0
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

/** Returns a function that collects all garbage, twice, and frees spare memory. It needs no V8 flag. */
function garbageCollector() {
  const session = new Session()
  try {
    session.connect()
  } catch {
    // Node's permission model forbids a session without `--allow-inspector`. V8 alone then decides when to collect.
    return () => undefined
  }
  return () => session.post('HeapProfiler.collectGarbage')
}
