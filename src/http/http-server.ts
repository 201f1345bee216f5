/**
 * Node's HTTP server with its bounds, and with answers in the service's own shape to all that never
 * reaches a route: errors of the HTTP parser, and what Node would answer by itself.
 *
 * @module
 */

import { createServer, type RequestListener, type Server, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { corsHeaders } from './answer.js'
import { ApiError, errorBody } from './errors.js'
import { newSessionId, sessionHeader } from './session.js'
import { dropStalledConnections } from './stalled.js'

/** The bounds of the connections; times in seconds. */
export interface ConnectionLimits {
  /** Longest head of a request, in bytes. */
  readonly maxHeaderBytes: number
  /** Most connections at a time. */
  readonly maxConnections: number
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
  }
  const server = createServer(options, (request, response) => {
    if (request.headers.host === undefined && request.httpVersion === '1.1') {
      // RFC 9112 §3.2. In its turn: an answer to an earlier request may be under way.
      const { status, headers, body } = lastAnswer(
        new ApiError('BAD_REQUEST', 'The Host header is missing'),
      )
      response.writeHead(status, headers).end(body)
    } else {
      serve(request, response)
    }
  })
  server.maxConnections = limits.maxConnections
  dropStalledConnections(server, limits.idleTimeout * 1000)
  // What a client expects beside `100-continue` may be ignored (RFC 9110 §10.1.1).
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  server.on('connect', (_request, socket) => {
    answerOnSocket(socket, new ApiError('BAD_REQUEST', 'CONNECT is not served here'))
  })
  return server
}

/**
 * Answers an error of the HTTP parser, wherever an answer can be sent, and closes the connection.
 * @param error what the server's `clientError` event gives.
 */
export function answerConnectionError(error: Error & { code?: string }, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || isAnswering(socket)) socket.destroy()
  else answerOnSocket(socket, toApiError(error.code))
}

function answerOnSocket(socket: Duplex, apiError: ApiError): void {
  if (!socket.writable) {
    socket.destroy()
    return
  }
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

function toApiError(code: string | undefined): ApiError {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new ApiError('REQUEST_TIMEOUT', 'The request did not arrive in time')
    case 'HPE_HEADER_OVERFLOW':
      return new ApiError('HEADERS_TOO_LARGE', 'The headers of the request are too large')
    default:
      return new ApiError('BAD_REQUEST', 'The request is not valid HTTP/1.1')
  }
}

/** Whether an earlier request's answer has begun on this connection; a second must not cut in. */
function isAnswering(socket: Duplex & { _httpMessage?: { headersSent: boolean } | null }): boolean {
  return socket._httpMessage?.headersSent === true // where Node keeps the response in progress
}
