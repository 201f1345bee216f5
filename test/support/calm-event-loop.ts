/**
 * Loaded into a service under test: its event loop seems never to be delayed, since any machine can be busy for a
 * while, and the service would refuse requests then.
 */

import { syncBuiltinESMExports } from 'node:module'
import perfHooks, { createHistogram, type IntervalHistogram } from 'node:perf_hooks'

const still = Object.assign(createHistogram(), { enable: () => true, disable: () => true })
still.record(1) // in nanoseconds
still.reset = () => undefined
perfHooks.monitorEventLoopDelay = () => still as IntervalHistogram // with all that the service calls
syncBuiltinESMExports()
