/**
 * Shares the event loop's time among requests. Long work, large request bodies and large numbers of responses are
 * spread over several turns. Between these turns, other requests are served.
 *
 * @module
 */

import type { IncomingMessage } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Slices } from '../item/slices.js'
import type { ItemList } from '../store/item-store.js'

/** Maximum total time of the pieces of work in one turn of the event loop, in milliseconds. */
const turnTime = 1

interface Piece {
  readonly begin: () => void
  readonly laterTime: number
}

const pieces = new Set<Piece>()
let isBeginning = false

/**
 * Resolves once the caller may do its next piece of work, which must take less than a millisecond. Callers take turns.
 * @param laterTime time in milliseconds that the caller will need later, after it has awaited something else.
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
    await undefined // lets the caller do its piece of work first
    end -= piece.laterTime
  }
  isBeginning = false
}

/** Does work slice by slice. Other requests are served between the slices. */
export async function inTurns<T>(work: Slices<T>): Promise<T> {
  for (;;) {
    await workTurn()
    const { done, value } = work.next()
    if (done) return value
  }
}

/**
 * Maximum total length of short bodies that are parsed without waiting in one turn, in bytes. Parsing this many bytes
 * takes 1.5 ms.
 */
const workedBytesPerTurn = 32 * 1024

let workedBytes = 0

/** Adds the length of a short body to the count. Returns whether the body may be parsed immediately. */
export function mayWorkNow(length: number): boolean {
  const half = workedBytesPerTurn / 2
  const isHalfReached = workedBytes < half && workedBytes + length >= half
  workedBytes += length
  if (isHalfReached) {
    // The count is reset only after it has reached half of the limit. Most turns parse less, so they need no callback.
    setImmediate(() => {
      workedBytes = 0
    })
  }
  return workedBytes <= workedBytesPerTurn
}

/** Number of body bytes that may be received in one turn before requests are paused. Receiving them takes 0.25 ms. */
const receivedBytesPerTurn = 256 * 1024

/**
 * Time reserved for receiving from a resumed request, in milliseconds. Node.js may read 128 KiB before the next pause.
 */
const receivingTime = 0.25

let receivedBytes = 0

/**
 * Counts received bytes of a request body, and pauses the request if too many bytes arrive in this turn. Paused
 * requests are resumed in later turns, one after another. Without pauses, Node.js would read 2 MB from each client in
 * one turn.
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

/** Length up to which short chunks are joined, in bytes. Each chunk costs a write to the connection. */
const joinedBytes = 64 * 1024

/**
 * Reads a filtered list and joins its short chunks. Finding chunks takes time, so other requests run in the meantime.
 */
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

/** Time to send a response without its body, in milliseconds. The operating system takes half of this time. */
const sendingTime = 0.02
/** Time to copy a byte of a body, in milliseconds. */
const copyingTime = 1 / (1024 * 1024)

/** Resolves once a response may begin. In each turn, a few responses begin. @param bodyBytes length of the body. */
export function sendTurn(bodyBytes = 0): Promise<void> {
  return workTurn(sendingTime + bodyBytes * copyingTime)
}
