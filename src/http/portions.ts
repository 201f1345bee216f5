/** Work for a crowd of requests, in portions between which other requests are served. @module */

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ItemList } from '../store/item-store.js'

/** How long a crowd may be worked for in one turn of the event loop, in milliseconds. */
const portionTime = 2

/** Maximum number of responses begun in one turn: each takes about 20 µs, half of it in the system. */
const portionLength = 32

/** No more responses are begun in a turn once their bodies have this many bytes, which the system copies in 0.2 ms. */
const portionBytes = 1024 * 1024

/** When the work in this turn has begun, as a value of `performance.now()`. */
let begun: number | undefined

/** Whether the work has taken its time in this turn, and has to go on in the next one. */
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

/** Short chunks are joined until they have this length, in bytes: each costs a write. */
const joinedBytes = 64 * 1024

/** Reads chunks that take work to find: with other requests served in between, and the short ones joined. */
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

/** Responses begin in the order of the calls. */
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
