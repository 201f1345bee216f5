/**
 * Shares the event loop among requests: no turn works, receives or responds for long. All other requests are served
 * between the turns.
 *
 * @module
 */

import type { IncomingMessage } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Slices } from '../item/slices.js'
import type { ItemList } from '../store/item-store.js'

/** How long the slices of one turn may take together, in milliseconds. */
const turnTime = 1

/** Bytes of bodies that may be worked on at once in one turn, without a slice of their own: 1.5 ms at most. */
const workedBytesPerTurn = 32 * 1024

/** @returns whether there is more to do that need not wait. */
type Step = () => boolean

let steps: Step[] = []
let workedBytes = 0
let isTurnScheduled = false

/** Calls a step, again and again, until it returns false. */
export function callInTurns(step: Step): void {
  steps.push(step)
  schedule()
}

/** Whether a short body may be worked on in this turn. */
export function mayWorkNow(length: number): boolean {
  workedBytes += length
  if (workedBytes < workedBytesPerTurn / 2) return true
  schedule()
  return workedBytes <= workedBytesPerTurn
}

/** Does work in slices, with other requests served between them. */
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
  if (isTurnScheduled) return
  isTurnScheduled = true
  setImmediate(takeTurn)
}

function takeTurn(): void {
  isTurnScheduled = false
  workedBytes = 0
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

/** Bytes that may be received in one turn before others have to wait: a quarter of a millisecond. */
const receivedBytesPerTurn = 256 * 1024

/** Number of paused requests that are read again in one turn; Node reads up to 128 KiB of each before it notices. */
const resumedPerTurn = 4

let receivedBytes = 0
let paused: IncomingMessage[] = []
let isResumeScheduled = false

/**
 * Counts bytes received of the body of a request. Keeps what is received in one turn small, however many clients send:
 * Node would read two megabytes from each. Requests beyond that are read in later turns, one after the other.
 */
export function received(request: IncomingMessage, length: number): void {
  receivedBytes += length
  if (receivedBytes > receivedBytesPerTurn) paused.push(request.pause())
  if (isResumeScheduled) return
  isResumeScheduled = true
  setImmediate(resumeNext)
}

function resumeNext(): void {
  receivedBytes = 0
  for (const request of paused.slice(0, resumedPerTurn)) request.resume()
  paused = paused.slice(resumedPerTurn)
  isResumeScheduled = paused.length > 0
  if (isResumeScheduled) setImmediate(resumeNext)
}

/** Time in one turn of the event loop for work that a crowd of requests waits for, in milliseconds. */
const portionTime = 2

/** Maximum number of responses begun in one turn: each takes about 20 µs, half of it in the system. */
const portionLength = 32

/** No more responses are begun in a turn once their bodies have this many bytes, which the system copies in 0.2 ms. */
const portionBytes = 1024 * 1024

/** When work for a crowd began in this turn, as a value of `performance.now()`. */
let begun: number | undefined

/** Whether work for a crowd has used up its time in this turn, and has to go on in the next one. */
export function isPortionOver(): boolean {
  const now = performance.now()
  if (begun === undefined) {
    begun = now
    setImmediate(() => {
      begun = undefined
    })
  }
  return now - begun > portionTime
}

/** Length to which short chunks are joined, in bytes: each costs a write. */
const joinedBytes = 64 * 1024

/** Reads chunks that take work to find. Other requests are served in between, and short chunks are joined. */
export async function* inPortions(
  chunks: ItemList['chunks'],
): AsyncGenerator<Uint8Array, void, void> {
  let parts: Uint8Array[] = []
  let length = 0
  while (isPortionOver()) await nextTurn()
  for await (const chunk of chunks) {
    const isLong = chunk.length >= joinedBytes
    if (!isLong) parts.push(chunk)
    length += chunk.length
    if (length >= joinedBytes) {
      yield Buffer.concat(parts)
      if (isLong) yield chunk
      parts = []
      length = 0
    }
    while (isPortionOver()) await nextTurn()
  }
  yield Buffer.concat(parts)
}

/** Begins a response in one of the next turns. @param bodyBytes length of its body. */
export type BeginLater = (begin: () => void, bodyBytes?: number) => void

/** Returns a function that begins responses in the order of its calls, a few in each turn. */
export function createPortions(): BeginLater {
  let queue: { readonly begin: () => void; readonly bodyBytes: number }[] = []

  function beginPortion(): void {
    let [length, bytes] = [0, 0]
    for (const { begin, bodyBytes } of queue) {
      if (length === portionLength || bytes >= portionBytes) break
      length += 1
      bytes += bodyBytes
      begin()
    }
    queue = queue.slice(length)
    if (queue.length > 0) setImmediate(beginPortion)
  }

  return (begin, bodyBytes = 0) => {
    queue.push({ begin, bodyBytes })
    if (queue.length === 1) setImmediate(beginPortion)
  }
}
