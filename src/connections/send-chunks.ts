/** Sends a response in many chunks, at the pace at which the client reads it. @module */

import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ItemList } from '../store/item-store.js'
import type { Connection } from './connection.js'

/**
 * Bytes that are written at a time and may wait for the client. Those of a list are in the store's
 * own memory, not in a copy. Fewer would take a system call for each piece, more would keep other
 * requests waiting.
 */
const batch = 1024 * 1024

/**
 * Sends chunks between two texts, and releases them once they are sent or the client is gone.
 * @param list the chunks, and how to release them.
 */
export async function sendChunks(
  connection: Connection,
  response: ServerResponse,
  before: string,
  { chunks, release }: Pick<ItemList, 'chunks' | 'release'>,
  after: string,
): Promise<void> {
  if (response.destroyed) return release()
  response.once('close', release) // until then the socket reads from the chunks
  response.req.resume() // a client may send its whole body before it reads
  response.write(before)
  let written = 0
  for await (const chunk of chunks) {
    for (let start = 0; start < chunk.length; start += batch) {
      if (response.destroyed) return
      const piece = chunk.subarray(start, start + batch)
      response.write(piece)
      written += piece.length
      if (written < batch) continue
      written = 0
      if (connection.socket.writableNeedDrain) await drained(connection.socket)
      await nextTurn() // otherwise a client that reads as fast as this writes would block all others
    }
  }
  connection.answeredAt = performance.now()
  response.end(after)
}

/** `drain` of the socket: Node passes it on to the response only while no other request waits. */
function drained(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      socket.off('drain', done).off('close', done)
      resolve()
    }
    socket.on('drain', done).on('close', done)
  })
}
