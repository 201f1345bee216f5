/**
 * Node's HTTP server with its bounds, and with answers in the service's own shape to all that never
 * reaches a route: errors of the HTTP parser, and what Node would answer by itself.
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
import { answerAndClose, answerParserError, writeAnswer } from './parser-errors.js'

/** The bounds of the connections; times in seconds. */
export interface ConnectionLimits {
  /** Maximum length of the head of a request, in bytes. */
  readonly maxHeaderBytes: number
  /** Maximum number of header lines of a request. */
  readonly maxHeaderLines: number
  /** Maximum number of connections at a time. */
  readonly maxConnections: number
  /** Maximum memory for pipelined requests that wait, on all connections together, in bytes. */
  readonly maxPipelinedBytes: number
  /** Maximum time for a whole request to arrive. */
  readonly requestTimeout: number
  /** How long a connection may wait for its next request. */
  readonly keepAliveTimeout: number
  /** How long a client may read nothing of what is sent to it. */
  readonly idleTimeout: number
}

/** Handles one request, when its turn has come; must not throw. */
export type Serve = (
  request: IncomingMessage,
  response: ServerResponse,
  connection: Connection,
) => void

/** How a server stops; times in milliseconds. */
export interface StopOptions {
  /** After it, the connections that are left are closed, whatever is under way on them. */
  readonly timeout: number
  /**
   * How long clients have, from the end of their last answer, to send another request. Those that
   * have been sent already are answered in any case.
   */
  readonly grace?: number
}

/** The server of the interface. */
export interface HttpServer {
  /**
   * @returns the port, which is a free one where 0 is asked for.
   * @throws the error of the system, for example `EADDRINUSE`.
   */
  listen(port: number, host: string): Promise<number>
  /** Takes no new connections, answers what was sent, and waits until every connection is closed. */
  stop(options: StopOptions): Promise<void>
}

/**
 * `uri-host [ ":" port ]` (RFC 9112 §3.2, RFC 3986 §3.2.2), but for commas in a name: two headers are
 * joined by one.
 */
const hostAndPort =
  /^(?:\[(?:[\da-f:.]+|v[\da-f]+\.[\w.~!$&'()*+;=:-]+)\]|(?:[\w.~!$&'()*+;=-]|%[\da-f]{2})*)(?::\d*)?$/i

/** How often Node looks for requests that take too long, in milliseconds. */
const timeoutCheckInterval = 1_000

/** How often connections are checked while the server stops, in milliseconds. */
const idleCheckInterval = 50

export function createHttpServer(limits: ConnectionLimits, serve: Serve): HttpServer {
  const options = {
    maxHeaderSize: limits.maxHeaderBytes,
    requestTimeout: limits.requestTimeout * 1000,
    headersTimeout: limits.requestTimeout * 1000,
    keepAliveTimeout: limits.keepAliveTimeout * 1000,
    connectionsCheckingInterval: timeoutCheckInterval,
    requireHostHeader: false, // Node's answer to its absence has no body
    joinDuplicateHeaders: true, // a second Host or Authorization would be hidden otherwise
  }
  const server = createServer(options, (request, response) => {
    const connection = connections.of(request.socket)
    // A request after the last answer must not take effect, as nobody is told (RFC 9112 §9.6).
    if (connection.latest?.shouldKeepAlive === false) return
    connection.latest = response
    const error = headError(request, limits.maxHeaderLines)
    if (error === undefined) {
      serve(request, response, connection)
    } else {
      connection.settle(response)
      answerAndClose(response, error)
    }
  })
  const connections = new Connections(server, limits.maxPipelinedBytes)
  server.maxHeadersCount = limits.maxHeaderLines + 1 // more are dropped, and the request refused
  server.maxConnections = limits.maxConnections
  // Without it, what a client asked for is broken off when it has nothing more to send.
  Object.assign(server, { httpAllowHalfOpen: true }) // not in the types; since Node.js 0.x
  server.on('clientError', (error: Error & { code?: string }, socket) => {
    answerParserError(error.code, connections.of(socket))
  })
  // `100 Continue` is sent when the body is wanted, and what a client expects beside it may be
  // ignored (RFC 9110 §10.1.1).
  for (const event of ['checkContinue', 'checkExpectation']) {
    server.on(event, (request, response) => server.emit('request', request, response))
  }
  server.on('connect', (request, socket, rest) => {
    const connection = connections.of(socket)
    if (connection.isBusy) connections.hold(connection, request, rest)
    else writeAnswer(socket, new ApiError('BAD_REQUEST', 'CONNECT is not supported'))
  })
  const endWatch = connections.dropStalled(limits.idleTimeout * 1000)

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
     * that moment, under the request that a busy client is just sending, it takes an answer for sent
     * that waits for a slow client, and it stops the watch over requests that take too long.
     */
    async stop({ timeout, grace = 0 }) {
      const deadline = performance.now() + timeout
      connections.end()
      // What has reached this machine is taken in first: connections, then requests on them.
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
      endWatch()
      server.close(() => undefined) // closed it is; this ends Node's watch over slow requests
    },
  }
}

/** What is wrong with the head of a request that Node lets pass (RFC 9112 §3.2 and §6.1). */
function headError(request: IncomingMessage, maxLines: number): ApiError | undefined {
  const { headers, httpVersion, rawHeaders } = request
  if (rawHeaders.length / 2 > maxLines) {
    return new ApiError('HEADERS_TOO_LARGE', `The request has more than ${maxLines} header lines`)
  }
  if (headers.host === undefined && httpVersion === '1.1') {
    return new ApiError('BAD_REQUEST', 'The Host header is missing')
  }
  if (headers.host !== undefined && !hostAndPort.test(headers.host)) {
    return new ApiError('BAD_REQUEST', 'The Host header is not a host and port')
  }
  const encoding = headers['transfer-encoding']
  return encoding === undefined || encoding.toLowerCase() === 'chunked'
    ? undefined
    : new ApiError('BAD_REQUEST', 'The Transfer-Encoding is not chunked')
}
