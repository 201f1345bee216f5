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

/**
 * Sends the items of a list between two texts, and lets go of the list when it is sent or the
 * client is gone.
 */
export async function sendList(
  response: ServerResponse,
  before: string,
  list: ItemList,
  after: string,
): Promise<void> {
  if (response.destroyed) return list.release()
  response.once('close', list.release) // until then the socket reads from the chunks
  response.write(before)
  let written = 0
  for await (const chunk of list.chunks) {
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
