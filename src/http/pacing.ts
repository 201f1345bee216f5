/** Spreads long work and many responses over several turns of the event loop. @module */

import type { Slices } from '../item/slices.js'
import { nextTurn, performance, setImmediate } from '../memory/timers.js'
import type { ItemList } from '../store/item-store.js'

const turnTime = 1

const pieces = new Set<{ readonly begin: () => void; readonly laterTime: number }>()
let isBeginning = false

/** Waits until work of up to 1 ms may begin. `laterTime` is the duration of the work it causes later, in ms. */
export function untilWorkMayRun(laterTime = 0): Promise<void> {
  return new Promise((begin) => {
    pieces.add({ begin, laterTime })
    if (!isBeginning) void beginPieces()
  })
}

async function beginPieces(): Promise<void> {
  isBeginning = true
  let end = 0
  for (const piece of pieces) {
    if (performance.now() >= end) {
      await nextTurn()
      end = performance.now() + turnTime
    }
    pieces.delete(piece)
    piece.begin()
    await undefined // the caller works first
    end -= piece.laterTime
  }
  isBeginning = false
}

export async function runInTurns<T>(work: Slices<T>): Promise<T> {
  for (;;) {
    await untilWorkMayRun()
    const { done, value } = work.next()
    if (done) return value
  }
}

const parsedPerTurn = 32 * 1024 // in bytes; parsing them takes 1.5 ms
let parsed = 0
const reset = () => {
  parsed = 0
}

/** Counts a short body, and returns whether this turn of the event loop may parse it. */
export function mayWorkNow(length: number): boolean {
  // Plans a reset only from half of the limit on, because most turns stay below it.
  const half = parsedPerTurn / 2
  if (parsed < half && parsed + length >= half) setImmediate(reset)
  parsed += length
  return parsed <= parsedPerTurn
}

const joinedBytes = 64 * 1024 // in bytes; short chunks are joined to save writes

/** Joins short chunks. Other requests can run before each chunk, because producing one takes time. */
export async function* inPortions(chunks: ItemList['chunks']): AsyncIterable<Uint8Array> {
  let parts: Uint8Array[] = []
  let length = 0
  await untilWorkMayRun()
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
    await untilWorkMayRun()
  }
  yield Buffer.concat(parts)
}

// Estimates in ms: for sending a response, and for copying one byte of its body.
const sendingTime = 0.02
const copyingTime = 1 / (1024 * 1024)

export function untilMaySend(bodyBytes = 0): Promise<void> {
  return untilWorkMayRun(sendingTime + bodyBytes * copyingTime)
}
