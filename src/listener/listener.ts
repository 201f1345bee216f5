/**
 * Node's HTTP server with limits, and with responses in the application's own shape for requests that
 * never reach it: those the parser rejects, and those Node would otherwise answer by itself.
 *
 * @module
 */

import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Connection, type ConnectionOwner } from './connection.js'
import { readingParsers } from './node-internals.js'
import { HeldBytes } from './queue.js'
import { headRefusal, inputRefusal, type Refuse } from './refusal.js'
import { Turn } from './turn.js'

/** Limits of connections; times in seconds. */
export interface ListenerLimits {
  /** Maximum size of a request head, in bytes. */
  readonly maxHeaderBytes: number
  /** Maximum number of header lines in a request. */
  readonly maxHeaderLines: number
  /** Maximum number of open connections. */
  readonly maxConnections: number
  /**
   * Maximum memory for pipelined requests waiting for an earlier one, across all connections, in bytes.
   * Beyond it, connections that hold the most are closed.
   */
  readonly maxPipelinedBytes: number
  /** How long a complete request may take to arrive. */
  readonly requestTimeout: number
  /** How long a connection may be idle between requests. */
  readonly keepAliveTimeout: number
  /** How long a client may go without reading any of its response. */
  readonly idleTimeout: number
}

/** Serves one request; must not throw. */
export type Serve = (
  request: IncomingMessage,
  response: ServerResponse,
  connection: Connection,
) => void

/** How to stop a listener; times in milliseconds. */
interface StopOptions {
  /** After this, the remaining connections are closed, whatever is in progress on them. */
  readonly timeout: number
  /**
   * How long clients have, after their last response, to send another request. Requests sent before the
   * stop are answered in any case; of pipelined ones, those that have been read.
   */
  readonly grace?: number
}

export interface Listener {
  /**
   * @param port 0 picks a free one.
   * @returns the port.
   * @throws the system's error, for example `EADDRINUSE`.
   */
  listen(port: number, host: string): Promise<number>
  /** Stops accepting connections, answers the requests already sent, and waits until all connections are closed. */
  stop(options: StopOptions): Promise<void>
}

/** How often Node checks for requests that take too long, in milliseconds. */
const timeoutCheckInterval = 1_000

/** How often connections are checked while the listener is stopping, in milliseconds. */
const idleCheckInterval = 50

/**
 * How many connections the system keeps until they are accepted: as many as Linux allows by default. It drops
 * those in excess, and their clients try again a second later at the earliest.
 */
const backlog = 4096

/** How many times per timeout each connection is checked for being idle or stalled. */
const checksPerTimeout = 4

/**
 * How many requests are handled in one turn of the event loop, and how many connections resume with what they
 * hold: a few milliseconds of work, so that a crowd does not starve the others.
 */
const workPerTurn = 64

/**
 * The same while connections are being accepted, and for how long after one they count as such, in milliseconds.
 * Node.js accepts one connection in a turn. If turns were long, clients would wait for seconds behind a few
 * thousand others that connect at the same time.
 */
const workWhileAccepting = 2
const acceptingTime = 10

/**
 * @param refuse composes the responses to requests that never reach `serve`.
 */
export function createListener(limits: ListenerLimits, refuse: Refuse, serve: Serve): Listener {
  const idleTimeout = limits.idleTimeout * 1000
  const connections = new Map<Duplex, Connection>()
  /** Connections that hold requests and whose earlier ones have been answered. */
  const resumable: Connection[] = []
  /** When the latest connection was accepted. */
  let acceptedAt = Number.NEGATIVE_INFINITY
  let isStopping = false
  /** How long a connection may be idle, and when all are closed: a value of `performance.now()`. */
  let maxIdle = limits.keepAliveTimeout * 1000
  let deadline = Number.POSITIVE_INFINITY

  const maxWork = () =>
    performance.now() - acceptedAt < acceptingTime ? workWhileAccepting : workPerTurn

  const owner: ConnectionOwner = {
    get isStopping() {
      return isStopping
    },
    turn: new Turn(maxWork),
    held: new HeldBytes(limits.maxPipelinedBytes),
    readyToResume(connection) {
      resumable.push(connection)
      if (resumable.length === 1) setImmediate(resumeNext)
    },
    serveNext: start,
  }

  const options = {
    maxHeaderSize: limits.maxHeaderBytes,
    requestTimeout: limits.requestTimeout * 1000,
    headersTimeout: limits.requestTimeout * 1000,
    keepAliveTimeout: 0, // see closeOverdue
    connectionsCheckingInterval: timeoutCheckInterval,
    requireHostHeader: false, // Node's own response to its absence has no body
    joinDuplicateHeaders: true, // otherwise a second Host or Authorization would be dropped silently
  }
  const server = createServer(options, (request, response) => {
    const connection = connectionOf(request.socket)
    if (connection.accept(response)) start(connection, response)
  })
  server.maxHeadersCount = 0 // `headRefusal` counts; the parser would close the connection in the middle of the body
  server.maxConnections = limits.maxConnections
  // Not in the types. Without the first, responses are cut short once the client closes its sending side; without the
  // second, `node:cluster` passes connections beyond the limit from one worker to the next, forever.
  Object.assign(server, { httpAllowHalfOpen: true, dropMaxConnection: true })
  server.on('connection', (socket: Socket) => connectionOf(socket).watchParser())
  server.on('clientError', (error: Error & { code?: string }, socket) => {
    if (error.code === 'ECONNRESET') socket.destroy()
    else connectionOf(socket).refuseInput(refuse(inputRefusal(error.code)))
  })
  // `100 Continue` is sent when the body is read, and any other expectation may be ignored
  // (RFC 9110 §10.1.1).
  for (const event of ['checkContinue', 'checkExpectation']) {
    server.on(event, (request, response) => server.emit('request', request, response))
  }
  // Requests at which the parser has stopped: see `Connection.watchParser`.
  server.on('upgrade', (request, socket, rest) => connectionOf(socket).hold(request, rest))
  server.on('connect', (request, socket, rest) => {
    const connection = connectionOf(socket)
    if (connection.isFree) connection.refuseInput(refuse('connect'))
    else connection.hold(request, rest)
  })
  let timer = setInterval(closeOverdue, Math.min(idleTimeout, maxIdle) / checksPerTimeout)
  timer.unref()

  function start(connection: Connection, response: ServerResponse): void {
    const refusal = headRefusal(response.req, limits.maxHeaderLines)
    if (refusal === undefined) serve(response.req, response, connection)
    else connection.refuseRequest(refuse(refusal))
  }

  /** The state machine of a connection, created on first use. */
  function connectionOf(duplex: Duplex): Connection {
    const known = connections.get(duplex)
    if (known !== undefined) return known
    const socket = duplex as Socket // the server listens on TCP only
    acceptedAt = performance.now()
    const connection = new Connection(socket, owner)
    connections.set(socket, connection)
    socket.once('close', () => connections.delete(socket))
    return connection
  }

  function resumeNext(): void {
    for (const connection of resumable.splice(0, maxWork())) connection.resume(server)
    if (resumable.length > 0) setImmediate(resumeNext)
  }

  /**
   * Closes connections whose response has made no progress for too long, or that have been idle for too
   * long after one. Node's own timeouts do the same by setting a timer for each request and each response,
   * which costs a tenth of the time of a small one.
   */
  function closeOverdue(): void {
    const now = performance.now()
    const reading = readingParsers(server)
    for (const connection of connections.values()) {
      const isLate = now >= deadline || connection.isStalledFor(now, idleTimeout)
      if (!isLate && !connection.isIdleFor(now, maxIdle, reading)) continue
      if (isLate || !isStopping) connection.socket.destroy()
      else connection.close()
    }
  }

  /** Accepts connections that have already reached this machine; some versions of Node.js take one in a turn. */
  async function acceptWaiting(): Promise<void> {
    let latest: number | undefined
    for (let turns = 0; turns < backlog && latest !== acceptedAt; turns += 1) {
      latest = acceptedAt
      for (let more = 0; more < 2; more += 1) await nextTurn() // the first may not accept any
    }
  }

  return {
    async listen(port, host) {
      server.listen({ port, host, backlog })
      await once(server, 'listening')
      const address = server.address() as AddressInfo // it listens on TCP
      return address.port
    },

    /**
     * Node's own `close` of an HTTP server won't do: it closes connections that are idle at that moment,
     * although a busy client may just be sending a request; it considers a response sent while a slow
     * client is still reading it; and it stops enforcing the request timeout.
     */
    async stop({ timeout, grace = 0 }) {
      const end = performance.now() + timeout
      // Before any connection is closed: its client would open another one, just before the listener is gone.
      await acceptWaiting()
      isStopping = true
      maxIdle = grace
      deadline = end
      for (const connection of connections.values()) {
        // A client that has only just connected is about to send a request.
        if (!connection.hasHadRequest) connection.markActive()
      }
      const closed = once(server, 'close')
      NetServer.prototype.close.call(server)
      clearInterval(timer)
      timer = setInterval(closeOverdue, idleCheckInterval)
      closeOverdue()
      await closed
      clearInterval(timer)
      server.close(() => undefined) // already closed; this stops Node's timer for slow requests
    },
  }
}
