/**
 * Node's HTTP server with its limits, and with responses in the service's own shape for whatever never
 * reaches a route: parser errors, and what Node would otherwise answer by itself.
 *
 * @module
 */

import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { Server as NetServer } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { ApiError } from '../interface/errors.js'
import type { Connection } from './connection.js'
import { Connections } from './connections.js'
import { answerAndClose, answerParserError, writeResponse } from './parser-errors.js'

/** Limits of connections; times in seconds. */
export interface ConnectionLimits {
  /** Maximum size of a request head, in bytes. */
  readonly maxHeaderBytes: number
  /** Maximum number of header lines in a request. */
  readonly maxHeaderLines: number
  /** Maximum number of open connections. */
  readonly maxConnections: number
  /** Whether they are handed on by another process (`node:cluster`). */
  readonly isWorker?: boolean
  /** Maximum memory for waiting pipelined requests, on all connections together, in bytes. */
  readonly maxPipelinedBytes: number
  /** Maximum time for a complete request to arrive. */
  readonly requestTimeout: number
  /** How long a connection may be idle between requests. */
  readonly keepAliveTimeout: number
  /** How long a client may read nothing of a response. */
  readonly idleTimeout: number
}

/** Handles one request when its turn has come; must not throw. */
export type Serve = (
  request: IncomingMessage,
  response: ServerResponse,
  connection: Connection,
) => void

/** How a server stops; times in milliseconds. */
export interface StopOptions {
  /** After it, the remaining connections are closed, whatever is in progress on them. */
  readonly timeout: number
  /**
   * How long clients have, from the end of their last response, to send another request. One that has
   * been sent already is answered in any case; of pipelined ones, as many as have been read.
   */
  readonly grace?: number
}

/** The server of the interface. */
export interface HttpServer {
  /**
   * @param port 0 picks a free one.
   * @returns the port.
   * @throws the system's error, for example `EADDRINUSE`.
   */
  listen(port: number, host: string): Promise<number>
  /** Accepts no new connections, answers what was sent, and waits until all connections are closed. */
  stop(options: StopOptions): Promise<void>
}

/**
 * `uri-host [ ":" port ]` (RFC 9112 §3.2, RFC 3986 §3.2.2), but without commas in a name: repeated
 * headers are joined by one.
 */
const hostAndPort =
  /^(?:\[(?:[\da-f:.]+|v[\da-f]+\.[\w.~!$&'()*+;=:-]+)\]|(?:[\w.~!$&'()*+;=-]|%[\da-f]{2})*)(?::\d*)?$/i

/** How often Node checks for requests that take too long, in milliseconds. */
const timeoutCheckInterval = 1_000

/** How often connections are checked while the server stops, in milliseconds. */
const idleCheckInterval = 50

export function createHttpServer(limits: ConnectionLimits, serve: Serve): HttpServer {
  const options = {
    maxHeaderSize: limits.maxHeaderBytes,
    requestTimeout: limits.requestTimeout * 1000,
    headersTimeout: limits.requestTimeout * 1000,
    keepAliveTimeout: 0, // see Connections.closeOverdue
    connectionsCheckingInterval: timeoutCheckInterval,
    requireHostHeader: false, // Node's own response to its absence has no body
    joinDuplicateHeaders: true, // otherwise a second Host or Authorization would go unnoticed
  }
  const server = createServer(options, (request, response) => {
    const connection = connections.of(request.socket)
    // A request after the last response must not take effect, as nobody is told (RFC 9112 §9.6).
    if (connection.isClosing) return
    connection.latest = response
    const error = headError(request, limits.maxHeaderLines)
    if (error === undefined) {
      serve(request, response, connection)
    } else {
      connection.settle(response)
      answerAndClose(response, error)
    }
  })
  // Node.js itself, which takes less time, would give a connection back to be handed to another worker,
  // and so on without end where all have as many as they may.
  const [byNode, byRecord] = limits.isWorker
    ? [Number.POSITIVE_INFINITY, limits.maxConnections]
    : [limits.maxConnections, Number.POSITIVE_INFINITY]
  const connections = new Connections(server, limits.maxPipelinedBytes, byRecord)
  server.maxHeadersCount = 0 // `headError` counts; the parser would end the connection under the body
  server.maxConnections = byNode
  // Without it, responses are cut short once the client closes its sending side.
  Object.assign(server, { httpAllowHalfOpen: true }) // not in the types; since Node.js 0.x
  server.on('clientError', (error: Error & { code?: string }, socket) => {
    answerParserError(error.code, connections.of(socket))
  })
  // `100 Continue` is sent when the body is read, and any other expectation may be ignored
  // (RFC 9110 §10.1.1).
  for (const event of ['checkContinue', 'checkExpectation']) {
    server.on(event, (request, response) => server.emit('request', request, response))
  }
  server.on('connect', (request, socket, rest) => {
    const connection = connections.of(socket)
    if (connection.isBusy) connections.hold(connection, request, rest)
    else if (connection.isClosing) connection.socket.destroySoon()
    else writeResponse(socket, new ApiError('BAD_REQUEST', 'CONNECT is not supported'))
  })
  const endChecks = connections.closeOverdue({
    idleTimeout: limits.idleTimeout * 1000,
    keepAliveTimeout: limits.keepAliveTimeout * 1000,
  })

  return {
    async listen(port, host) {
      server.listen(port, host)
      await once(server, 'listening')
      const address = server.address()
      if (address === null || typeof address === 'string') throw new Error('not listening on TCP')
      return address.port
    },

    /**
     * Node's own `close` of an HTTP server is of no use here: it closes connections that are idle at
     * that moment, although a busy client may just be sending a request; it considers a response sent
     * that still waits for a slow client; and it stops enforcing the request timeout.
     */
    async stop({ timeout, grace = 0 }) {
      const deadline = performance.now() + timeout
      connections.end()
      // First accept what has already reached this machine: connections, then requests on them.
      for (let turns = 0; turns < 2; turns += 1) await nextTurn()
      const closed = once(server, 'close')
      NetServer.prototype.close.call(server)
      const check = () => {
        if (performance.now() >= deadline) connections.closeAll()
        else connections.closeIdle(grace)
      }
      check()
      const timer = setInterval(check, idleCheckInterval)
      await closed
      clearInterval(timer)
      endChecks()
      server.close(() => undefined) // already closed; this ends Node's checks for slow requests
    },
  }
}

/** An error in a request head that Node does not reject (RFC 9112 §3.2 and §6.1). */
function headError(request: IncomingMessage, maxLines: number): ApiError | undefined {
  const { headers, httpVersion, rawHeaders } = request
  if (rawHeaders.length / 2 > maxLines) {
    return new ApiError('HEADERS_TOO_LARGE', `The request has more than ${maxLines} header lines`)
  }
  if (httpVersion !== '1.1' && httpVersion !== '1.0') {
    return new ApiError('BAD_REQUEST', 'The HTTP version must be 1.1 or 1.0')
  }
  if (headers.host === undefined && httpVersion === '1.1') {
    return new ApiError('BAD_REQUEST', 'The Host header is missing')
  }
  if (headers.host !== undefined && !hostAndPort.test(headers.host)) {
    return new ApiError('BAD_REQUEST', 'The Host header must be one host with an optional port')
  }
  const encoding = headers['transfer-encoding']
  return encoding === undefined || encoding.toLowerCase() === 'chunked'
    ? undefined
    : new ApiError('BAD_REQUEST', 'The only Transfer-Encoding supported is chunked')
}
