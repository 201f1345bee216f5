/** Sends a body in chunks, as fast as the client reads it. @module */

import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Connection } from '../listener/connection.js'
import type { ItemList } from '../store/item-store.js'

/**
 * Bytes written at a time, which may wait for the client. Those of a list are in the store's own memory,
 * not in a copy. Fewer would cost more system calls, more would keep other requests waiting.
 */
const batchBytes = 1024 * 1024

/**
 * Sends chunks between two texts, and releases them once they are sent or the client is gone.
 * @param list the chunks, and what releases them.
 */
export async function sendChunks(
  connection: Connection,
  response: ServerResponse,
  before: string,
  { chunks, release }: Pick<ItemList, 'chunks' | 'release'>,
  after: string,
): Promise<void> {
  if (response.destroyed) return release()
  response.once('close', release) // until then, the socket reads from the chunks
  response.req.resume() // a client may send its whole body before it reads anything
  response.write(before)
  let written = 0
  for await (const chunk of chunks) {
    for (let start = 0; start < chunk.length; start += batchBytes) {
      if (response.destroyed) return
      const piece = chunk.subarray(start, start + batchBytes)
      response.write(piece)
      written += piece.length
      if (written < batchBytes) continue
      written = 0
      if (connection.socket.writableNeedDrain) await drained(connection.socket)
      await nextTurn() // otherwise a client that reads as fast as this writes would starve the others
    }
  }
  connection.markActive()
  response.end(after)
}

/** The socket's own `drain`: Node does not always pass it on to the response. */
function drained(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      socket.off('drain', done).off('close', done)
      resolve()
    }
    socket.on('drain', done).on('close', done)
  })
}
