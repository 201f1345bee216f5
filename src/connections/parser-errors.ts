/** Answers to what is wrong with a request before there is one to route. @module */

import type { ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { ApiError, errorBody } from '../interface/errors.js'
import { headText, jsonHead, newSessionId } from './answer-head.js'
import type { Connection } from './connection.js'
import { endAnswer } from './end-answer.js'

/**
 * Answers an error of the HTTP parser, wherever an answer can be sent, and closes the connection.
 * @param code of the error that the server's `clientError` event gives.
 */
export function answerParserError(code: string | undefined, connection: Connection): void {
  if (code === 'ECONNRESET') connection.socket.destroy()
  else answerInTurn(connection, parserError(code))
}

/**
 * Answers in its turn, and once: after the answer to an earlier request that came whole, unless that
 * is the last one.
 */
function answerInTurn(connection: Connection, error: ApiError): void {
  const { latest, socket } = connection
  if (!socket.writable) {
    socket.destroy()
  } else if (latest === undefined) {
    writeAnswer(socket, error)
  } else if (latest.req.complete && latest.shouldKeepAlive) {
    if (!connection.isBusy) {
      writeAnswer(socket, error)
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

/** Answers a request that is refused for what it is, and closes its connection. */
export function answerAndClose(response: ServerResponse, error: ApiError): void {
  const { headers, body } = lastAnswer(error)
  response.shouldKeepAlive = false
  response.writeHead(error.status, headers)
  endAnswer(response, body)
}

/** Writes an answer to a socket on which no response is under way. */
export function writeAnswer(socket: Duplex, error: ApiError): void {
  const { headers, body } = lastAnswer(error)
  socket.end(`${headText(error.status, headers)}${body}`, () => socket.destroy())
}

/** An answer that closes its connection. */
function lastAnswer(error: ApiError): { headers: string[]; body: string } {
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
      return new ApiError('HEADERS_TOO_LARGE', 'The head of the request is too large')
    default:
      return new ApiError('BAD_REQUEST', 'The request is not valid HTTP/1.1')
  }
}
