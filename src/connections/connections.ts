/** All connections: counts and bounds what waits on them, drops the stalled, and ends them. @module */

import type { ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { Connection } from './connection.js'

/** How often connections are looked at for being stalled, as a part of the timeout. */
const checks = 4

export class Connections {
  readonly #all = new Map<Duplex, Connection>()
  readonly #maxWaiting: number
  #waiting = 0
  #isEnding = false

  /**
   * @param maxWaiting maximum number of requests to wait, on all connections together. Node takes up
   * to 1,400 of them at a time from each, with a kilobyte for each. Beyond it the connection with the
   * most is closed.
   */
  constructor(maxWaiting: number) {
    this.#maxWaiting = maxWaiting
  }

  /** The record of a connection, new for a new one. */
  of(socket: Duplex): Connection {
    const known = this.#all.get(socket)
    if (known !== undefined) return known
    const connection = new Connection(socket)
    connection.isEnding = this.#isEnding
    this.#all.set(socket, connection)
    socket.once('close', () => {
      this.#all.delete(socket)
      this.#count(connection, -connection.waiting)
    })
    return connection
  }

  /**
   * Handles a request once those before it on its connection are answered. Pipelined requests
   * (RFC 9112 §9.3.2) take effect in the order sent, and only one answer at a time takes memory.
   */
  inTurn(connection: Connection, response: ServerResponse, handle: () => void): void {
    const { latest: earlier, socket } = connection
    connection.latest = response
    if (earlier === undefined || earlier.writableFinished) {
      handle()
      return
    }
    if (this.#waiting === this.#maxWaiting) this.#closeGreediest()
    if (socket.destroyed) return
    this.#count(connection, 1)
    socket.pause() // or requests without end could wait
    earlier.once('close', () => {
      // The connection ends with that answer, or this request was refused meanwhile for its body.
      if (!socket.writable || response.headersSent) return
      this.#count(connection, -1)
      if (connection.waiting === 0) socket.resume()
      else socket.pause() // as Node has resumed it, to drop what the handler left of the body
      handle()
    })
  }

  #count(connection: Connection, change: number): void {
    connection.waiting += change
    this.#waiting += change
  }

  #closeGreediest(): void {
    let greediest: Connection | undefined
    for (const connection of this.#all.values()) {
      if (connection.waiting > (greediest?.waiting ?? 0)) greediest = connection
    }
    if (greediest === undefined) return
    greediest.socket.destroy()
    this.#count(greediest, -greediest.waiting) // its next ones may come before it is closed
  }

  /**
   * Closes connections on which nothing got any further for too long, from now on.
   *
   * Node's own idle timeout does the same with a timer that is set twice for each request; that costs
   * a tenth of the time of a small one (bench/CHOICES.md). Connections that wait for a request, or in
   * the middle of one, have their own timeouts.
   *
   * @param timeout in milliseconds.
   * @returns ends the watch.
   */
  dropStalled(timeout: number): () => void {
    const timer = setInterval(() => {
      const now = performance.now()
      for (const connection of this.#all.values()) {
        if (connection.isStalled(now, timeout)) connection.socket.destroy()
      }
    }, timeout / checks)
    timer.unref()
    return () => clearInterval(timer)
  }

  /** From now on, the answer to the latest request of each connection closes it. */
  end(): void {
    this.#isEnding = true
    for (const connection of this.#all.values()) {
      connection.isEnding = true
      // Somebody who has only just connected is about to send a request.
      if (connection.latest === undefined) connection.answeredAt = performance.now()
    }
  }

  /** Closes the connections that have been idle for a time, in milliseconds. */
  closeIdle(time: number): void {
    const now = performance.now()
    for (const { isIdle, answeredAt, socket } of this.#all.values()) {
      if (isIdle && now - answeredAt >= time) socket.destroy()
    }
  }

  closeAll(): void {
    for (const { socket } of this.#all.values()) socket.destroy()
  }
}
