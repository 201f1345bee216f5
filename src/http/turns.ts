/** Spreads long work, large bodies and many responses over turns of the event loop. @module */

import type { IncomingMessage } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Slices } from '../item/slices.js'
import type { ItemList } from '../store/item-store.js'

/** Maximum time of all work in one turn of the event loop, in milliseconds. */
const turnTime = 1

const pieces = new Set<{ readonly begin: () => void; readonly laterTime: number }>()
let isBeginning = false

/** Resolves when work of up to 1 ms may begin. @param laterTime milliseconds of work afterwards. */
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

export async function inTurns<T>(work: Slices<T>): Promise<T> {
  for (;;) {
    await workTurn()
    const { done, value } = work.next()
    if (done) return value
  }
}

/** Maximum length of bodies parsed at once in one turn, in bytes. Parsing them takes 1.5 ms. */
const workedBytesPerTurn = 32 * 1024

let workedBytes = 0

/** Counts a short body, and returns whether the body may be parsed immediately. */
export function mayWorkNow(length: number): boolean {
  const half = workedBytesPerTurn / 2
  const isHalfReached = workedBytes < half && workedBytes + length >= half
  workedBytes += length
  if (isHalfReached) {
    // Most turns parse less than half of the limit, so they need no callback.
    setImmediate(() => {
      workedBytes = 0
    })
  }
  return workedBytes <= workedBytesPerTurn
}

/** Maximum length of bodies received in a turn, in bytes. Receiving them takes 0.25 ms. */
const receivedBytesPerTurn = 256 * 1024

/** Time to receive from a resumed request, in milliseconds. Node.js may read 128 KiB at once. */
const receivingTime = 0.25

let receivedBytes = 0

/** Pauses the request after too many bytes. Node.js would read 2 MB per client in one turn. */
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

/** Short chunks are joined up to this length, in bytes. Each chunk costs a write. */
const joinedBytes = 64 * 1024

/** Joins short chunks. Finding chunks takes time, so other requests run in the meantime. */
export async function* inPortions(chunks: ItemList['chunks']): AsyncIterable<Uint8Array> {
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

/** Time to send a response without its body, in milliseconds. */
const sendingTime = 0.02
/** Time to copy a byte of a body, in milliseconds. */
const copyingTime = 1 / (1024 * 1024)

/** Resolves once a response may begin. A few responses begin in each turn. */
export function sendTurn(bodyBytes = 0): Promise<void> {
  return workTurn(sendingTime + bodyBytes * copyingTime)
}
