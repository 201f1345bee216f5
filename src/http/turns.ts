/**
 * Shares the event loop among the requests that are worked on: in each turn, they get a few milliseconds together,
 * a slice each, one after the other. All other requests are served between the turns.
 *
 * @module
 */

import type { Slices } from '../item/slices.js'

/** How long the slices of one turn may take together, in milliseconds. */
const turnTime = 1

/** Bytes of bodies that may be worked on at once in one turn, without a slice of their own: 1.5 ms at most. */
const turnBytes = 32 * 1024

/** @returns whether there is more to do that need not wait. */
type Step = () => boolean

let steps: Step[] = []
let bytes = 0
let isScheduled = false

/** Has a step called, again and again, until it returns false. */
export function callInTurns(step: Step): void {
  steps.push(step)
  schedule()
}

/** Whether a short body may be worked on at once. */
export function mayWorkNow(length: number): boolean {
  bytes += length
  if (bytes < turnBytes / 2) return true
  schedule()
  return bytes <= turnBytes
}

/** Does work in slices. */
export function inTurns<T>(work: Slices<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    callInTurns(() => {
      try {
        const { done, value } = work.next()
        if (done) resolve(value)
        return done !== true
      } catch (error) {
        reject(error)
        return false
      }
    })
  })
}

function schedule(): void {
  if (isScheduled) return
  isScheduled = true
  setImmediate(takeTurn)
}

function takeTurn(): void {
  isScheduled = false
  bytes = 0
  const end = performance.now() + turnTime
  while (steps.length > 0) {
    const round = steps
    steps = []
    for (const [place, step] of round.entries()) {
      if (performance.now() >= end) {
        steps = [...round.slice(place), ...steps]
        schedule()
        return
      }
      if (step()) steps.push(step)
    }
  }
}
