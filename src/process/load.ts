/** Measures the memory and event loop delay of a process that runs nothing but the service. @module */

import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Config } from '../config/settings.js'
import { startCollection } from '../memory/collection.js'
import type { Limit } from '../memory/shares.js'

const sampleInterval = 1_000

const resolution = 10

export function watchLoad(
  { maxEventLoopDelay, maxMemoryBytes }: Pick<Config, 'maxEventLoopDelay' | 'maxMemoryBytes'>,
  storeBytes: () => number,
) {
  const memory = startCollection(maxMemoryBytes, storeBytes)
  const delays = monitorEventLoopDelay({ resolution })
  delays.enable()
  let delay = 0
  const timer = setInterval(() => {
    const mean = delays.mean / 1e6 // in ms; NaN if the event loop was blocked all the time
    delay = Number.isNaN(mean) ? sampleInterval : Math.max(0, Math.round(mean - resolution))
    delays.reset()
  }, sampleInterval).unref()

  const limits: readonly Limit[] = [
    { limit: 'MAX_MEMORY_BYTES', maximum: maxMemoryBytes, value: () => memory.residentBytes },
    { limit: 'event loop delay', maximum: maxEventLoopDelay, value: () => delay },
  ]

  return {
    limits,
    exceededLimit() {
      const exceeded = limits.find(({ maximum, value }) => value() > maximum)
      return exceeded && { ...exceeded, value: exceeded.value() }
    },
    stop() {
      clearInterval(timer)
      delays.disable()
      memory.stop()
    },
  }
}
