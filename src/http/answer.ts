/** Writes responses: heads, bodies that are sent whole or in chunks, and errors. @module */

import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { ApiError, type ErrorCode, errorBody } from '../interface/errors.js'
import { corsHeaders, type HeaderList, neverStored, sessionHeader } from '../interface/names.js'
import { newUuid } from '../item/id.js'
import { InvalidItemError } from '../item/item-request.js'
import type { Connection } from '../listener/connection.js'
import type { Refusal, RefusalResponse } from '../listener/refusal.js'
import { type ItemList, StoreError } from '../store/item-store.js'
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
function jsonHead(sessionId: string, length: number | undefined, more: HeaderList = []): string[] {
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

/**
 * Bytes written at a time, which may wait for the client. Those of a list are in the store's own memory,
 * not in a copy. Fewer would cost more system calls, more would keep other requests waiting.
 */
const batchBytes = 1024 * 1024

/**
 * Sends chunks between two texts, and releases them once they are sent or the client is gone.
 * @param list the chunks, and what releases them.
 */
export async function sendChunks(
  connection: Connection,
  response: ServerResponse,
  before: string,
  { chunks, release }: Pick<ItemList, 'chunks' | 'release'>,
  after: string,
): Promise<void> {
  if (response.destroyed) return release()
  response.once('close', release) // until then, the socket reads from the chunks
  response.req.resume() // a client may send its whole body before it reads anything
  response.write(before)
  let written = 0
  for await (const chunk of chunks) {
    for (let start = 0; start < chunk.length; start += batchBytes) {
      if (response.destroyed) return
      const piece = chunk.subarray(start, start + batchBytes)
      response.write(piece)
      written += piece.length
      if (written < batchBytes) continue
      written = 0
      if (connection.socket.writableNeedDrain) await drained(connection.socket)
      await nextTurn() // otherwise a client that reads as fast as this writes would starve the others
    }
  }
  connection.markActive()
  response.end(after)
}

/** The socket's own `drain`: Node does not always pass it on to the response. */
function drained(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      socket.off('drain', done).off('close', done)
      resolve()
    }
    socket.on('drain', done).on('close', done)
  })
}

/** The error for each refusal of the listener (spec §7). */
const refusals: Readonly<Record<Refusal, readonly [ErrorCode, string]>> = {
  malformed: ['BAD_REQUEST', 'The request is not valid HTTP/1.1'],
  unsupportedVersion: ['BAD_REQUEST', 'The HTTP version must be 1.1 or 1.0'],
  missingHost: ['BAD_REQUEST', 'The Host header is missing'],
  invalidHost: ['BAD_REQUEST', 'The Host header must be one host with an optional port'],
  unsupportedTransferEncoding: ['BAD_REQUEST', 'The only Transfer-Encoding supported is chunked'],
  transferEncodingInHttp10: ['BAD_REQUEST', 'HTTP/1.0 has no Transfer-Encoding'],
  connect: ['BAD_REQUEST', 'CONNECT is not supported'],
  headTooLarge: ['HEADERS_TOO_LARGE', 'The request head is too large'],
  tooManyHeaderLines: ['HEADERS_TOO_LARGE', 'The request has too many header lines'],
  requestTimeout: ['REQUEST_TIMEOUT', 'The request did not arrive in time'],
}

/** Logs an error with a status of 500 or above. */
export type LogFailure = (exchange: Exchange, error: ApiError) => void

/** Answers with the error that corresponds to what was thrown. */
export function answerError(exchange: Exchange, thrown: unknown, logFailure: LogFailure): void {
  const error = toApiError(thrown)
  const { connection, response, sessionId } = exchange
  exchange.errorCode = error.code
  if (error.status >= 500) logFailure(exchange, error)
  // A response that has begun can only be aborted.
  if (connection.state === 'responding') response.destroy()
  else answerJson(exchange, error.status, errorBody(error, sessionId), error.headers)
}

/** Returns the response to a request that the listener refuses. */
export function refusalResponse(refusal: Refusal): RefusalResponse {
  const error = new ApiError(...refusals[refusal])
  const sessionId = newUuid()
  const body = JSON.stringify(errorBody(error, sessionId))
  const headers = jsonHead(sessionId, Buffer.byteLength(body), error.headers)
  return { status: error.status, headers, body }
}

function toApiError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown
  if (thrown instanceof InvalidItemError) return new ApiError('VALIDATION_ERROR', thrown.message)
  if (thrown instanceof StoreError) {
    return new ApiError(thrown.code, thrown.message, { cause: thrown.cause })
  }
  return new ApiError('INTERNAL_ERROR', 'An internal error occurred', {
    cause: thrown,
  })
}
