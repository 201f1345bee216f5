/** All connections: bounds what they hold together, drops the stalled, and ends them. @module */

import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { Connection } from './connection.js'
import { allowReading, headOf, stopAtPipelined } from './pipelining.js'

/** How often connections are checked for being stalled, as a part of the timeout. */
const checks = 4

/**
 * How many connections go on with what they hold in one turn of the event loop: a few milliseconds of
 * work, so that clients that pipeline without end keep nobody else waiting.
 */
const resumedPerTurn = 64

export class Connections {
  readonly #server: Server
  readonly #maxHeldBytes: number
  readonly #all = new Map<Duplex, Connection>()
  #heldBytes = 0
  /** Connections whose requests were answered, and that hold more. */
  #resumable: Connection[] = []
  #isEnding = false

  /**
   * @param server whose connections they are.
   * @param maxHeldBytes maximum memory for pipelined requests that wait, on all connections together.
   * Beyond it the connection that holds the most is closed.
   */
  constructor(server: Server, maxHeldBytes: number) {
    this.#server = server
    this.#maxHeldBytes = maxHeldBytes
    server.on('connection', (socket) => {
      const connection = this.of(socket)
      stopAtPipelined(socket, () => connection.isBusy)
    })
    server.on('upgrade', (request, socket, rest) => this.hold(this.of(socket), request, rest))
  }

  /** The record of a connection, new for a new one. */
  of(duplex: Duplex): Connection {
    const known = this.#all.get(duplex)
    if (known !== undefined) return known
    const socket = duplex as Socket // of TCP, as the server listens on nothing else
    const connection = new Connection(socket)
    connection.isEnding = this.#isEnding
    this.#all.set(socket, connection)
    socket.on('error', () => socket.destroy()) // Node has its own listener only while it has a parser
    socket.once('close', () => {
      this.#all.delete(socket)
      this.#setHeld(connection, 0)
    })
    return connection
  }

  /**
   * Keeps a request at which the parser stopped, until those before it are answered.
   * @param rest the bytes after its head.
   */
  hold(connection: Connection, request: IncomingMessage, rest: Buffer): void {
    const { socket } = connection
    const head = headOf(request)
    this.#setHeld(connection, head.length + rest.buffer.byteLength)
    // Back to where they came from: the end of what the client sends must not come before them.
    socket.unshift(rest)
    socket.unshift(head)
    const resume = () => {
      this.#resumable.push(connection)
      if (this.#resumable.length === 1) setImmediate(() => this.#resume())
    }
    if (connection.isBusy) connection.latest?.once('close', resume)
    else resume()
    if (this.#heldBytes > this.#maxHeldBytes) this.#closeLargest()
  }

  #resume(): void {
    for (const connection of this.#resumable.splice(0, resumedPerTurn)) {
      const { socket } = connection
      this.#setHeld(connection, 0)
      if (!socket.writable) continue // it ends with the answer before
      allowReading(socket)
      socket.setTimeout(0) // of Node, for the time between two requests
      this.#server.emit('connection', socket) // gives it a new parser
    }
    if (this.#resumable.length > 0) setImmediate(() => this.#resume())
  }

  #setHeld(connection: Connection, bytes: number): void {
    this.#heldBytes += bytes - connection.heldBytes
    connection.heldBytes = bytes
  }

  #closeLargest(): void {
    let largest: Connection | undefined
    for (const connection of this.#all.values()) {
      if (connection.heldBytes > (largest?.heldBytes ?? 0)) largest = connection
    }
    if (largest === undefined) return
    this.#setHeld(largest, 0)
    largest.socket.destroy()
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

  /** From now on, the answer to the last request that came on a connection closes it. */
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
