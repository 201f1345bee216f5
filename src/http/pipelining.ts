/**
 * Requests that a client sends ahead on its connection, before the earlier ones are answered
 * (RFC 9112 §9.3.2).
 *
 * @module
 */

import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

/** The response to the latest request of each connection. */
const latestResponses = new WeakMap<Duplex, ServerResponse>()

export function latestResponse(socket: Duplex): ServerResponse | undefined {
  return latestResponses.get(socket)
}

/** Whether a connection has no request, and nothing of an answer, under way. */
export function isIdle(socket: Duplex): boolean {
  const latest = latestResponse(socket)
  const isAnswered = latest === undefined || (latest.req.complete && latest.writableFinished)
  return isAnswered && socket.writableLength === 0
}

/** Handles a request once those before it on its connection are answered. */
export type InTurn = (socket: Socket, response: ServerResponse, handle: () => void) => void

/**
 * What is sent ahead takes effect in the order sent, and only one answer at a time takes memory.
 * @param maxWaiting most requests to wait on all connections together. Node takes up to 1,400 of
 * them at a time from each, with a kilobyte for each. Beyond it the connection with the most is closed.
 */
export function createInTurn(maxWaiting: number): InTurn {
  /** How many requests wait on each connection, where any did. */
  const waiting = new Map<Socket, number>()
  let allWaiting = 0

  function count(socket: Socket, change: number): void {
    const before = waiting.get(socket)
    if (before === undefined) {
      socket.once('close', () => {
        allWaiting -= waiting.get(socket) ?? 0
        waiting.delete(socket)
      })
    }
    waiting.set(socket, (before ?? 0) + change)
    allWaiting += change
  }

  function closeGreediest(): void {
    let greediest: Socket | undefined
    let most = 0
    for (const [socket, count] of waiting) {
      if (count <= most) continue
      greediest = socket
      most = count
    }
    greediest?.destroy()
    if (greediest !== undefined) count(greediest, -most)
  }

  return function inTurn(socket, response, handle) {
    const earlier = latestResponse(socket)
    latestResponses.set(socket, response)
    if (earlier === undefined || earlier.writableFinished) {
      handle()
      return
    }
    if (allWaiting === maxWaiting) closeGreediest()
    if (socket.destroyed) return
    count(socket, 1)
    socket.pause() // or requests without end could wait
    earlier.once('close', () => {
      // The connection ends with that answer, or this request was refused meanwhile for its body.
      if (!socket.writable || response.headersSent) return
      count(socket, -1)
      if (waiting.get(socket) === 0) socket.resume()
      else socket.pause() // as Node has resumed it, to drop what the handler left of the body
      handle()
    })
  }
}
