/** Answers errors in requests that never get as far as a route. @module */

import type { ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { ApiError, errorBody } from '../interface/errors.js'
import type { Connection } from './connection.js'
import { endResponse } from './end-response.js'
import { headText, jsonHead, newSessionId } from './response-head.js'

/**
 * Answers an error of the HTTP parser, where a response can still be sent, and closes the connection.
 * @param code that of the error passed to the server's `clientError` event.
 */
export function answerParserError(code: string | undefined, connection: Connection): void {
  if (code === 'ECONNRESET') connection.socket.destroy()
  else answerInTurn(connection, parserError(code))
}

/**
 * Answers in order, and once: after the response to an earlier, complete request, unless that is the
 * last one.
 */
function answerInTurn(connection: Connection, error: ApiError): void {
  const { latest, socket } = connection
  if (!socket.writable) {
    socket.destroy()
  } else if (latest === undefined) {
    writeResponse(socket, error)
  } else if (latest.req.complete && latest.shouldKeepAlive) {
    if (!connection.isBusy) {
      writeResponse(socket, error)
    } else {
      socket.destroySoon = () => undefined // Node would, if the client closes its side meanwhile
      latest.once('finish', () => answerInTurn(connection, error))
    }
  } else if (!latest.req.complete && !latest.headersSent) {
    answerAndClose(latest, error) // the error is in the body of its request
  } else if (!connection.isBusy) {
    socket.destroy()
  } else {
    latest.once('finish', () => socket.destroy())
  }
}

/** Refuses a request and closes its connection. */
export function answerAndClose(response: ServerResponse, error: ApiError): void {
  const { headers, body } = closingResponse(error)
  response.shouldKeepAlive = false
  response.writeHead(error.status, headers)
  endResponse(response, body)
}

/** Writes a response to a socket on which none is in progress. */
export function writeResponse(socket: Duplex, error: ApiError): void {
  const { headers, body } = closingResponse(error)
  socket.end(`${headText(error.status, headers)}${body}`, () => socket.destroy())
}

/** A response that closes its connection. */
function closingResponse(error: ApiError): { headers: string[]; body: string } {
  const sessionId = newSessionId()
  const body = JSON.stringify(errorBody(error, sessionId))
  const headers = jsonHead(sessionId, Buffer.byteLength(body), ['Connection', 'close'])
  return { headers, body }
}

function parserError(code: string | undefined): ApiError {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new ApiError('REQUEST_TIMEOUT', 'The request did not arrive in time')
    case 'HPE_HEADER_OVERFLOW':
      return new ApiError('HEADERS_TOO_LARGE', 'The request head is too large')
    default:
      return new ApiError('BAD_REQUEST', 'The request is not valid HTTP/1.1')
  }
}
