/**
 * Answers to what never reaches a route: errors of Node's HTTP parser, and what Node would answer
 * by itself, without a session id.
 *
 * @module
 */

import { type IncomingMessage, type Server, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import { corsHeaders } from './answer.js'
import { ApiError, errorBody } from './errors.js'
import { newSessionId, sessionHeader } from './session.js'

/**
 * Tells the client, wherever an answer can be sent, and closes the connection.
 * @param error what the server's `clientError` event gives.
 */
export function answerConnectionError(error: Error & { code?: string }, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET' || isAnswering(socket)) {
    socket.destroy()
    return
  }
  answerOnSocket(socket, toApiError(error.code))
}

/** Hook in the place of Node's `requireHostHeader`, whose answer has no body (RFC 9112 §3.2). */
export function requireHost(
  request: FastifyRequest,
  _reply: FastifyReply,
  done: HookHandlerDoneFunction,
): void {
  const { headers, httpVersion } = request.raw
  if (headers.host === undefined && httpVersion === '1.1') {
    done(new ApiError('BAD_REQUEST', 'The Host header is missing'))
  } else {
    done()
  }
}

/** Takes over two cases in which Node answers, or does not, without asking. */
export function answerUnusualRequests(server: Server): void {
  // What a client expects beside `100-continue` may be ignored (RFC 9110 §10.1.1).
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  server.on('connect', (_request: IncomingMessage, socket: Duplex) => {
    answerOnSocket(socket, new ApiError('BAD_REQUEST', 'CONNECT is not served here'))
  })
}

function answerOnSocket(socket: Duplex, apiError: ApiError): void {
  const sessionId = newSessionId()
  const body = JSON.stringify(errorBody(apiError, sessionId))
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
  const lines = [`HTTP/1.1 ${apiError.status} ${STATUS_CODES[apiError.status]}`]
  for (let at = 0; at < headers.length; at += 2) lines.push(`${headers[at]}: ${headers[at + 1]}`)
  socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy())
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
