/** Writes responses: heads, and bodies that are sent whole. @module */

import { corsHeaders, type HeaderList, neverStored, sessionHeader } from '../interface/headers.js'
import type { Exchange } from './exchange.js'

/** Answers with a value as JSON, for small bodies that the service composes itself. */
export function answerJson(
  exchange: Exchange,
  status: number,
  body: unknown,
  headers?: HeaderList,
): void {
  const text = Buffer.from(JSON.stringify(body))
  if (startJson(exchange, status, text.length, headers))
    exchange.connection.turn.end(exchange.response, text)
}

/** Answers with bytes; the headers give their type and coding. */
export function answerBytes(
  exchange: Exchange,
  status: number,
  bytes: Buffer,
  headers: HeaderList,
): void {
  const head = emptyHead(exchange.sessionId, [...headers, 'Content-Length', String(bytes.length)])
  if (start(exchange, status, head)) exchange.connection.turn.end(exchange.response, bytes)
}

/** Answers without a body. */
export function answerEmpty(exchange: Exchange, status: number, headers?: HeaderList): void {
  const head = emptyHead(exchange.sessionId, headers)
  if (start(exchange, status, head)) exchange.connection.turn.end(exchange.response)
}

/**
 * Sends the head of a JSON response; the caller writes the body.
 * @param length in bytes; `undefined` if unknown.
 * @returns whether to go on: not if the request has been refused in the meantime.
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
  if (!connection.beginResponse()) return false
  response.writeHead(status, headers)
  return true
}

/** The headers of a response without a body. */
function emptyHead(sessionId: string, more: HeaderList = []): string[] {
  return [sessionHeader, sessionId, ...corsHeaders, ...more]
}

/** The headers of a response of the interface with a body, which is sent in chunks if its length is unknown. */
export function jsonHead(
  sessionId: string,
  length: number | undefined,
  more: HeaderList = [],
): string[] {
  const head = [
    'Content-Type',
    'application/json',
    sessionHeader,
    sessionId,
    ...corsHeaders,
    ...neverStored,
    ...more,
  ]
  if (length !== undefined) head.push('Content-Length', String(length))
  return head
}
