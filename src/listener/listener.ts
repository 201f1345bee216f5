/** Node's HTTP server with limits. The application writes the responses to input that Node's parser rejects. @module */

import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { BufferedBytes } from '../memory/buffered-bytes.js'
import { clearInterval, nextTurn, performance, setInterval } from '../memory/timers.js'
import { Batch } from './batch.js'
import { Connection, type ConnectionOwner } from './connection.js'
import { headRefusal, inputRefusal, type Refuse } from './refusal.js'

/** Limits of a listener. Times are in seconds. */
export interface ListenerLimits {
  readonly maxHeaderBytes: number
  readonly maxHeaderLines: number
  readonly maxConnections: number
  /** Maximum input buffered by all connections, in bytes. Above it, connections are closed. */
  readonly maxPipelinedBytes: number
  readonly requestTimeout: number
  readonly keepAliveTimeout: number
  readonly idleTimeout: number // for which a client may leave its response unread
}

interface ParseError extends Error {
  readonly code?: string
  readonly rawPacket?: Buffer
}

/** Serves `response.req`. Must not throw, and must begin the response in a later turn of the event loop. */
export type Serve = (response: ServerResponse, connection: Connection) => void

const timeoutCheckInterval = 1_000

const idleCheckInterval = 50
const backlog = 4096 // connections that wait to be accepted; Linux allows as many by default

const checksPerTimeout = 4
const workPerTurn = 64 // requests; they take a few milliseconds
const workWhileAccepting = 2 // low, because a turn accepts only one connection
const acceptingTime = 10 // ms after a connection for which `workWhileAccepting` applies

/** @param refuse creates responses to requests that aren't passed to `serve`. */
export function createListener(limits: ListenerLimits, refuse: Refuse, serve: Serve) {
  const idleTimeout = limits.idleTimeout * 1000
  const connections = new Map<Duplex, Connection>()
  let acceptedAt = Number.NEGATIVE_INFINITY
  let isStopping = false
  let maxIdle = limits.keepAliveTimeout * 1000
  let deadline = Number.POSITIVE_INFINITY // of a shutdown (`performance.now()`)

  const owner: ConnectionOwner = {
    get isStopping() {
      return isStopping
    },
    batch: new Batch(() =>
      performance.now() - acceptedAt < acceptingTime ? workWhileAccepting : workPerTurn,
    ),
    buffered: new BufferedBytes(limits.maxPipelinedBytes),
    requestTimeout: limits.requestTimeout * 1000,
    parse: (socket) => server.emit('connection', socket),
  }

  const options = {
    maxHeaderSize: limits.maxHeaderBytes,
    requestTimeout: limits.requestTimeout * 1000,
    headersTimeout: limits.requestTimeout * 1000,
    keepAliveTimeout: 0, // closeOverdue enforces this timeout
    connectionsCheckingInterval: timeoutCheckInterval,
    requireHostHeader: false, // Node's own response to a missing Host has no body
    joinDuplicateHeaders: true, // otherwise a second Host or Authorization would be dropped silently
  }
  const server = createServer(options, (request, response) => {
    const connection = connectionOf(request.socket)
    connection.accept(response)
    const refusal = headRefusal(request, limits.maxHeaderLines)
    if (refusal === undefined) serve(response, connection)
    else connection.refuseRequest(refuse(refusal))
  })
  server.maxHeadersCount = 0 // `headRefusal` counts lines; the parser would close the connection during the body
  server.maxConnections = limits.maxConnections
  // Node's types lack this option, with which a client that has closed its side gets whole responses.
  Object.assign(server, { httpAllowHalfOpen: true })
  server.on('connection', (socket: Socket) => connectionOf(socket).watchParser())
  server.on('clientError', (error: ParseError, socket) => {
    const { code, rawPacket } = error
    if (code === 'ECONNRESET') socket.destroy()
    else if (code === 'HPE_CLOSED_CONNECTION') connectionOf(socket).endInput()
    else connectionOf(socket).refuseInput(refuse(inputRefusal(code)), rawPacket)
  })
  // Requests with `Expect` are handled like all others: reading the body sends the `100 Continue`, and other
  // expectations may be ignored (RFC 9110 §10.1.1).
  for (const event of ['checkContinue', 'checkExpectation']) {
    server.on(event, (request, response) => server.emit('request', request, response))
  }
  // Node emits `upgrade` for each request at which `Connection.watchParser` has stopped the parser.
  server.on('upgrade', (request, socket, rest) => connectionOf(socket).defer(request, rest))
  server.on('connect', (request, socket, rest) => {
    const connection = connectionOf(socket)
    if (connection.isFree) connection.refuseInput(refuse('connect'))
    else connection.defer(request, rest)
  })
  let timer = setInterval(closeOverdue, Math.min(idleTimeout, maxIdle) / checksPerTimeout).unref()

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

  /** Closes connections that exceed a timeout. Node's own timers make a small request a tenth slower. */
  function closeOverdue(): void {
    const now = performance.now()
    for (const connection of connections.values()) {
      const isLate = now >= deadline || connection.isStalledFor(now, idleTimeout)
      if (!isLate && !connection.isIdleFor(now, maxIdle)) continue
      if (isLate || !isStopping) connection.socket.destroy()
      else connection.close()
    }
  }

  /** Accepts all connections that have reached this machine; Node.js may accept only one per turn. */
  async function acceptWaiting(): Promise<void> {
    let latest: number | undefined
    for (let turns = 0; turns < backlog && latest !== acceptedAt; turns += 1) {
      latest = acceptedAt
      for (let more = 0; more < 2; more += 1) await nextTurn() // the first may accept none
    }
  }

  const { maxConnections, maxPipelinedBytes } = limits
  return {
    /** Limits above which connections are closed. */
    limits: [
      { limit: 'MAX_CONNECTIONS', maximum: maxConnections, value: () => connections.size },
      {
        limit: 'pipelined requests',
        maximum: maxPipelinedBytes,
        value: () => owner.buffered.total,
      },
    ],

    /** Listens, and returns the port, which the system picks for 0. Throws errors such as `EADDRINUSE`. */
    async listen(port: number, host: string): Promise<number> {
      server.listen({ port, host, backlog })
      await once(server, 'listening')
      return (server.address() as AddressInfo).port // the server listens on TCP
    },

    /**
     * Answers the requests that clients have already sent. Resolves once all connections are closed.
     * @param timeout ms after which all connections are closed, even during requests.
     * @param grace ms in which clients may send another request after their last response.
     */
    async stop(timeout: number, grace = 0): Promise<void> {
      const end = performance.now() + timeout
      // Accept waiting connections first: if closed unaccepted, their clients would reconnect during the shutdown.
      await acceptWaiting()
      isStopping = true
      maxIdle = grace
      deadline = end
      // A request may be on its way, even on a connection that has long been idle.
      for (const connection of connections.values()) connection.markActive()
      const closed = once(server, 'close')
      // The HTTP server's own `close` would cut off clients that are sending a request or reading a response.
      NetServer.prototype.close.call(server)
      clearInterval(timer)
      timer = setInterval(closeOverdue, idleCheckInterval)
      closeOverdue()
      await closed
      clearInterval(timer)
      server.close(() => undefined) // only stops Node's timer for slow requests
    },
  }
}
