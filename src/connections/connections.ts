/** All connections: limits what they hold together, closes overdue ones, and ends them. @module */

import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { Connection } from './connection.js'
import { allowReading, headOf, stopAtPipelined } from './pipelining.js'

/** How many times per timeout each connection is checked. */
const checksPerTimeout = 4

/**
 * How many connections resume with what they hold in one turn of the event loop: a few milliseconds of
 * work, so that clients that pipeline without end do not keep others waiting.
 */
const resumedPerTurn = 64

/** In milliseconds. */
export interface ConnectionTimeouts {
  /** How long a client may read nothing of a response. */
  readonly idleTimeout: number
  /** How long a connection may be idle between requests. */
  readonly keepAliveTimeout: number
}

export class Connections {
  readonly #server: Server
  readonly #maxHeldBytes: number
  readonly #all = new Map<Duplex, Connection>()
  #heldBytes = 0
  /** Connections that hold more requests and whose earlier ones have been answered. */
  #resumable: Connection[] = []
  #isEnding = false

  /**
   * @param server whose connections they are.
   * @param maxHeldBytes maximum memory for waiting pipelined requests, on all connections together.
   * Beyond it, the connection that holds the most is closed.
   * @param maxConnections maximum number of connections; more are closed at once.
   */
  constructor(server: Server, maxHeldBytes: number, maxConnections: number) {
    this.#server = server
    this.#maxHeldBytes = maxHeldBytes
    server.on('connection', (socket) => {
      if (this.#all.size >= maxConnections && !this.#all.has(socket)) {
        socket.destroy()
        return
      }
      const connection = this.of(socket)
      stopAtPipelined(socket, () => connection.isBusy)
    })
    server.on('upgrade', (request, socket, rest) => this.hold(this.of(socket), request, rest))
  }

  /** The record of a connection, new for a new one. */
  of(duplex: Duplex): Connection {
    const known = this.#all.get(duplex)
    if (known !== undefined) return known
    const socket = duplex as Socket // the server listens on TCP only
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
   * Keeps a request at which the parser stopped, until the earlier ones are answered.
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
      if (!socket.writable) continue // closed after the earlier response
      allowReading(socket)
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
   * From now on, closes connections on which a response has made no progress for too long, and those on
   * which no request has followed it.
   *
   * Node's own timeouts do the same with a timer that is set for each request and each response, which
   * costs a tenth of the time of a small one (bench/CHOICES.md). Connections that wait for the first
   * request, or for the rest of one, are left to Node, which answers them.
   *
   * @returns a function that ends this.
   */
  closeOverdue({ idleTimeout, keepAliveTimeout }: ConnectionTimeouts): () => void {
    const timer = setInterval(() => {
      const now = performance.now()
      for (const connection of this.#all.values()) {
        const isOverdue =
          connection.isStalled(now, idleTimeout) || connection.isUnused(now, keepAliveTimeout)
        if (isOverdue) connection.socket.destroy()
      }
    }, Math.min(idleTimeout, keepAliveTimeout) / checksPerTimeout)
    timer.unref()
    return () => clearInterval(timer)
  }

  /** From now on, the response to the last request received on a connection closes it. */
  end(): void {
    this.#isEnding = true
    for (const connection of this.#all.values()) {
      connection.isEnding = true
      // A client that has only just connected is about to send a request.
      if (connection.latest === undefined) connection.answeredAt = performance.now()
    }
  }

  /** Closes the connections that have been idle for at least `time` milliseconds. */
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
