/**
 * Node's timers and clock, saved when this module is loaded. Test runners replace the global ones, and those that
 * `node:timers` exports, but connections must go on while a test's time stands still. @module
 */

import { performance as clock } from 'node:perf_hooks'
import timers from 'node:timers'
import promises from 'node:timers/promises'

export const { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate } = timers
export const { setImmediate: nextTurn } = promises
export const performance = { now: clock.now.bind(clock) }

const before = process.getActiveResourcesInfo().length
const timeout = setTimeout(() => undefined, 1)
const interval = setInterval(() => undefined, 1)
const immediate = setImmediate(() => undefined)
const areReal = process.getActiveResourcesInfo().length === before + 3 // counts the timers of the event loop
clearTimeout(timeout)
clearInterval(interval)
timers.clearImmediate(immediate)

/** Error message if the timers had already been replaced when this module was loaded. */
export const timersProblem = areReal
  ? undefined
  : 'Fake timers were on when item-store was loaded; import item-store before they are switched on'
