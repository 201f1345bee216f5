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

/** How long the pieces of work of one turn may take together, in milliseconds. */
const turnTime = 1

/** A piece of work that waits until it may begin. */
interface Piece {
  readonly begin: () => void
  readonly laterTime: number
}

const pieces = new Set<Piece>()
let isBeginning = false

/**
 * Resolves once the caller may do its next piece of work, of less than a millisecond. All callers take turns.
 * @param laterTime time that the piece takes after the caller has awaited something else, in milliseconds.
 */
export function workTurn(laterTime = 0): Promise<void> {
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
    await undefined // the caller, which has awaited its turn for longer, does its work first
    end -= piece.laterTime
  }
  isBeginning = false
}

/** Does work in slices, with other requests served between them. */
export async function inTurns<T>(work: Slices<T>): Promise<T> {
  for (;;) {
    await workTurn()
    const { done, value } = work.next()
    if (done) return value
  }
}

/** Bytes of bodies that may be worked on at once in one turn, without a slice of their own: 1.5 ms at most. */
const workedBytesPerTurn = 32 * 1024

let workedBytes = 0

/** Whether a short body may be worked on in this turn. */
export function mayWorkNow(length: number): boolean {
  const half = workedBytesPerTurn / 2
  const isHalfReached = workedBytes < half && workedBytes + length >= half
  workedBytes += length
  if (isHalfReached) {
    // Not in each turn: most turns work on few bytes.
    setImmediate(() => {
      workedBytes = 0
    })
  }
  return workedBytes <= workedBytesPerTurn
}

/** Bytes that may be received in one turn before others have to wait: a quarter of a millisecond. */
const receivedBytesPerTurn = 256 * 1024

/** Time to receive from a request that is read again, in milliseconds: up to 128 KiB before Node notices a pause. */
const receivingTime = 0.25

let receivedBytes = 0

/**
 * Counts bytes received of the body of a request. Keeps what is received in one turn small, however many clients send:
 * Node would read two megabytes from each. Requests beyond that are read in later turns, one after the other.
 */
export function received(request: IncomingMessage, length: number): void {
  if (receivedBytes === 0) {
    setImmediate(() => {
      receivedBytes = 0
    })
  }
  receivedBytes += length
  if (receivedBytes <= receivedBytesPerTurn) return
  request.pause()
  void workTurn(receivingTime).then(() => request.resume())
}

/** Length to which short chunks are joined, in bytes: each costs a write. */
const joinedBytes = 64 * 1024

/** Reads chunks that take work to find. Other requests are served in between, and short chunks are joined. */
export async function* inPortions(
  chunks: ItemList['chunks'],
): AsyncGenerator<Uint8Array, void, void> {
  let parts: Uint8Array[] = []
  let length = 0
  await workTurn()
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
    await workTurn()
  }
  yield Buffer.concat(parts)
}

/** Time to send a response: 20 µs, half of it in the system; and the time to copy a body, in milliseconds for each byte. */
const sendingTime = 0.02
const copyingTime = 1 / (1024 * 1024)

/** Resolves once one more response may begin, in order: few begin in one turn. @param bodyBytes length of its body. */
export function sendTurn(bodyBytes = 0): Promise<void> {
  return workTurn(sendingTime + bodyBytes * copyingTime)
}
