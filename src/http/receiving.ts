/**
 * Keeps what is received of bodies in one turn of the event loop small, however many clients send: Node would read
 * two megabytes from each. Those beyond are read in later turns, one after the other.
 *
 * @module
 */

import type { IncomingMessage } from 'node:http'

/** Bytes that may be received in one turn before others have to wait: a quarter of a millisecond. */
const turnBytes = 256 * 1024

/** How many requests are read again in one turn; Node reads up to 128 KiB of each before it notices. */
const resumedPerTurn = 4

let bytes = 0
let waiting: IncomingMessage[] = []
let isScheduled = false

/** Some of the body of a request has been received. */
export function received(request: IncomingMessage, length: number): void {
  bytes += length
  if (bytes > turnBytes) waiting.push(request.pause())
  if (isScheduled) return
  isScheduled = true
  setImmediate(resumeNext)
}

function resumeNext(): void {
  bytes = 0
  for (const request of waiting.slice(0, resumedPerTurn)) request.resume()
  waiting = waiting.slice(resumedPerTurn)
  isScheduled = waiting.length > 0
  if (isScheduled) setImmediate(resumeNext)
}
