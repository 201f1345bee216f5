/** Sends an answer of many pieces at the pace at which the client reads it. @module */

import type { ServerResponse } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ItemList } from '../store/item-store.js'

/**
 * Bytes that are written at once, and may wait for the client. They lie in the store's own memory,
 * not in a copy; fewer would have the system asked for each piece alone, more would keep other
 * requests waiting.
 */
const batch = 1024 * 1024

/** What is sent, and a way to let go of it: see `ItemList`. */
type Chunks = Pick<ItemList, 'chunks' | 'release'>

/** An item with more bytes than this is sent in chunks. */
export const largeItem = batch

/** An item cut in chunks. */
export function chunksOf(item: Buffer): Chunks {
  const count = Math.ceil(item.length / batch)
  const chunks = Array.from({ length: count }, (_, at) =>
    item.subarray(at * batch, (at + 1) * batch),
  )
  return { chunks, release: () => undefined }
}

/**
 * Sends chunks between two texts, and lets go of them when they are sent or the client is gone.
 */
export async function sendChunks(
  response: ServerResponse,
  before: string,
  { chunks, release }: Chunks,
  after: string,
): Promise<void> {
  if (response.destroyed) return release()
  response.once('close', release) // until then the socket reads from the chunks
  response.write(before)
  let written = 0
  for await (const chunk of chunks) {
    if (response.destroyed) return
    response.write(chunk)
    written += chunk.length
    if (written < batch) continue
    written = 0
    if (response.writableNeedDrain) await drained(response)
    await nextTurn() // a client that reads as fast as this writes would have the turn for itself
  }
  response.end(after)
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.off('drain', done).off('close', done)
      resolve()
    }
    response.on('drain', done).on('close', done)
  })
}
