/** Writes the answers of the endpoints. @module */

import { emptyHead, jsonHead } from '../connections/answer-head.js'
import { endAnswer } from '../connections/end-answer.js'
import type { HeaderList } from '../interface/headers.js'
import type { Exchange } from './exchange.js'

/** Answers with a value as JSON text. For small bodies that the service makes up itself. */
export function answerJson(
  exchange: Exchange,
  status: number,
  body: unknown,
  headers?: HeaderList,
): void {
  const text = Buffer.from(JSON.stringify(body))
  if (startJson(exchange, status, text.length, headers)) endAnswer(exchange.response, text)
}

/** Answers without a body. */
export function answerEmpty(exchange: Exchange, status: number, headers?: HeaderList): void {
  if (start(exchange, status, emptyHead(exchange.sessionId, headers))) endAnswer(exchange.response)
}

/**
 * Sends the head of a JSON answer, whose body the caller writes.
 * @param length in bytes; `undefined` if nobody knows.
 * @returns whether there is still an answer to give.
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
  // The request was refused meanwhile, as its body was cut short or is not HTTP.
  if (response.headersSent) return false
  exchange.isStarted = true
  connection.settle(response)
  response.writeHead(status, headers)
  return true
}
