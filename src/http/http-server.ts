/**
 * Node's HTTP server with its bounds, and with answers in the service's own shape to all that never
 * reaches a route: errors of the HTTP parser, and what Node would answer by itself.
 *
 * @module
 */

import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http'
import type { Duplex } from 'node:stream'
import { corsHeaders, endAnswer } from './answer.js'
import { ApiError, errorBody } from './errors.js'
import { createInTurn, isIdle, latestResponse } from './pipelining.js'
import { newSessionId, sessionHeader } from './session.js'
import { dropStalledConnections } from './stalled.js'

/** The bounds of the connections; times in seconds. */
export interface ConnectionLimits {
  /** Longest head of a request, in bytes. */
  readonly maxHeaderBytes: number
  /** Most header lines of a request. */
  readonly maxHeaderLines: number
  /** Most connections at a time. */
  readonly maxConnections: number
  /** Most requests to wait, on all connections, for the one before them on theirs. */
  readonly maxWaitingRequests: number
  /** Longest time for a whole request to arrive. */
  readonly requestTimeout: number
  /** How long a connection may wait for its next request. */
  readonly keepAliveTimeout: number
  /** How long a client may read nothing of what is sent to it. */
  readonly idleTimeout: number
}

/** How often Node looks for requests that take too long, in milliseconds. */
const timeoutCheckInterval = 1_000

/** @param serve what answers the requests. */
export function createHttpServer(limits: ConnectionLimits, serve: RequestListener): Server {
  const options = {
    maxHeaderSize: limits.maxHeaderBytes,
    requestTimeout: limits.requestTimeout * 1000,
    headersTimeout: limits.requestTimeout * 1000,
    keepAliveTimeout: limits.keepAliveTimeout * 1000,
    connectionsCheckingInterval: timeoutCheckInterval,
    requireHostHeader: false, // Node's answer to its absence has no body
    joinDuplicateHeaders: true, // a second Host or Authorization would be hidden otherwise
  }
  const inTurn = createInTurn(limits.maxWaitingRequests)
  const server = createServer(options, (request, response) => {
    // What comes behind it in the same packet never gets out of Node's parser.
    if (request.headers.upgrade !== undefined) response.shouldKeepAlive = false
    inTurn(request.socket, response, () => {
      const fault = headFault(request, limits.maxHeaderLines)
      if (fault === undefined) serve(request, response)
      else answerAndClose(response, fault)
    })
  })
  server.maxHeadersCount = limits.maxHeaderLines + 1 // more are dropped, and the request refused
  server.maxConnections = limits.maxConnections
  // Without it, what a client asked for is broken off when it has nothing more to send.
  Object.assign(server, { httpAllowHalfOpen: true }) // not in the types; since Node.js 0.x
  dropStalledConnections(server, limits.idleTimeout * 1000)
  // `100 Continue` is sent when the body is wanted, and what a client expects beside it may be
  // ignored (RFC 9110 §10.1.1).
  for (const event of ['checkContinue', 'checkExpectation']) {
    server.on(event, (request, response) => server.emit('request', request, response))
  }
  server.on('connect', (_request, socket) => {
    socket.on('error', () => socket.destroy()) // Node has taken its own listener away
    // And those that an answer under way needs to go on.
    if (isIdle(socket))
      writeAnswer(socket, new ApiError('BAD_REQUEST', 'CONNECT is not served here'))
    else socket.destroy()
  })
  return server
}

/**
 * Answers an error of the HTTP parser, wherever an answer can be sent, and closes the connection.
 * @param error what the server's `clientError` event gives.
 */
export function answerConnectionError(error: Error & { code?: string }, socket: Duplex): void {
  if (error.code === 'ECONNRESET') socket.destroy()
  else answerOnSocket(socket, parserFault(error.code))
}

/** Answers in its turn, and once: behind the answers to earlier requests that came whole. */
function answerOnSocket(socket: Duplex, apiError: ApiError): void {
  setImmediate(() => {
    const latest = latestResponse(socket)
    if (!socket.writable) {
      socket.destroy()
    } else if (latest === undefined || (latest.req.complete && latest.writableFinished)) {
      writeAnswer(socket, apiError)
    } else if (latest.req.complete) {
      latest.once('finish', () => answerOnSocket(socket, apiError))
    } else if (!latest.headersSent) {
      answerAndClose(latest, apiError) // the fault is in the body of its request
    } else if (latest.writableFinished) {
      socket.destroy()
    } else {
      latest.once('finish', () => socket.destroy())
    }
  })
}

/** Node sends the answer when those to earlier requests are sent. */
function answerAndClose(response: ServerResponse, apiError: ApiError): void {
  const { status, headers, body } = lastAnswer(apiError)
  response.writeHead(status, headers)
  endAnswer(response, body)
}

function writeAnswer(socket: Duplex, apiError: ApiError): void {
  const { status, headers, body } = lastAnswer(apiError)
  const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`]
  for (let at = 0; at < headers.length; at += 2) lines.push(`${headers[at]}: ${headers[at + 1]}`)
  socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy())
}

/** An answer that closes its connection. */
function lastAnswer(error: ApiError): { status: number; headers: string[]; body: string } {
  const sessionId = newSessionId()
  const body = JSON.stringify(errorBody(error, sessionId))
  const headers = [
    'Content-Type',
    'application/json',
    'Content-Length',
    String(Buffer.byteLength(body)),
    'Connection',
    'close',
    sessionHeader,
    sessionId,
    ...corsHeaders,
  ]
  return { status: error.status, headers, body }
}

function parserFault(code: string | undefined): ApiError {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new ApiError('REQUEST_TIMEOUT', 'The request did not arrive in time')
    case 'HPE_HEADER_OVERFLOW':
      return new ApiError('HEADERS_TOO_LARGE', 'The headers of the request are too large')
    default:
      return new ApiError('BAD_REQUEST', 'The request is not valid HTTP/1.1')
  }
}

/** What is wrong with the head of a request that Node lets pass (RFC 9112 §3.2 and §6.1). */
function headFault(request: IncomingMessage, maxLines: number): ApiError | undefined {
  const { headers, httpVersion, rawHeaders } = request
  if (rawHeaders.length / 2 > maxLines) {
    return new ApiError('HEADERS_TOO_LARGE', `The request has more than ${maxLines} header lines`)
  }
  if (headers.host === undefined && httpVersion === '1.1') {
    return new ApiError('BAD_REQUEST', 'The Host header is missing')
  }
  // Two of them are joined by a comma and a space, and a space is never part of one.
  if (headers.host?.includes(' ')) {
    return new ApiError('BAD_REQUEST', 'The Host header is not one host')
  }
  const encoding = headers['transfer-encoding']
  return encoding === undefined || encoding.toLowerCase() === 'chunked'
    ? undefined
    : new ApiError('BAD_REQUEST', 'The Transfer-Encoding is not chunked')
}
