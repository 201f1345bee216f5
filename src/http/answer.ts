/** Writes the responses of the endpoints. @module */

import { endResponse } from '../connections/end-response.js'
import { emptyHead, jsonHead } from '../connections/response-head.js'
import type { HeaderList } from '../interface/headers.js'
import type { Exchange } from './exchange.js'

/** Answers with a value as JSON text. For small bodies that the service composes itself. */
export function answerJson(
  exchange: Exchange,
  status: number,
  body: unknown,
  headers?: HeaderList,
): void {
  const text = Buffer.from(JSON.stringify(body))
  if (startJson(exchange, status, text.length, headers)) endResponse(exchange.response, text)
}

/** Answers with bytes, whose type and coding are among the headers. */
export function answerBytes(
  exchange: Exchange,
  status: number,
  bytes: Buffer,
  headers: HeaderList,
): void {
  const head = emptyHead(exchange.sessionId, [...headers, 'Content-Length', String(bytes.length)])
  if (start(exchange, status, head)) endResponse(exchange.response, bytes)
}

/** Answers without a body. */
export function answerEmpty(exchange: Exchange, status: number, headers?: HeaderList): void {
  const head = emptyHead(exchange.sessionId, headers)
  if (start(exchange, status, head)) endResponse(exchange.response)
}

/**
 * Sends the head of a JSON response, whose body the caller writes.
 * @param length in bytes; `undefined` if unknown.
 * @returns whether a response is still to be sent.
 */
export function startJson(
  exchange: Exchange,
  status: number,
  length: number | undefined,
  headers?: HeaderList,
): boolean {
  return start(exchange, status, jsonHead(exchange.sessionId, length, headers))
}

function start(exchange: Exchange, status: number, headers: string[]): boolean {
  const { response, connection } = exchange
  // The request has been refused in the meantime: its body was cut short or is not HTTP.
  if (response.headersSent) return false
  exchange.isStarted = true
  connection.settle(response)
  response.writeHead(status, headers)
  return true
}
