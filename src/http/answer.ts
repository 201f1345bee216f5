/** Sends HTTP responses with JSON, bytes, a list in chunks, an error, or no body. @module */

import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import { UsageError } from '../config/usage-error.js'
import { ApiError, errorBody } from '../interface/errors.js'
import { corsHeaders, type HeaderList, neverStored, sessionHeader } from '../interface/paths.js'
import { InvalidItemError } from '../item/item-request.js'
import { type Refusal, type RefusalResponse, refusals } from '../listener/refusal.js'
import { isOutOfMemory } from '../memory/mapped.js'
import { memoryOf, ReadMemory } from '../memory/read-memory.js'
import { nextTurn } from '../memory/timers.js'
import { type ItemList, StoreError } from '../store/item-store.js'
import type { Exchange } from './exchange.js'

export function answerJson(
  exchange: Exchange,
  status: number,
  body: unknown,
  headers?: HeaderList,
): void {
  const text = Buffer.from(JSON.stringify(body))
  if (writeJsonHead(exchange, status, text.length, headers))
    exchange.connection.batch.end(exchange.response, text)
}

/** Sends bytes. `headers` must contain `Content-Type`, and any `Content-Encoding`. */
export async function answerBytes(exchange: Exchange, body: Buffer, headers: HeaderList) {
  const { sessionId } = exchange
  const { length } = body
  const head = headWith(sessionId, [...headers, 'Content-Length', String(length)])
  if (!writeHead(exchange, 200, head)) return
  await sendChunks(exchange, '', { byteLength: length, chunks: [body] }, '')
}

export function answerEmpty(exchange: Exchange, status: number, headers?: HeaderList): void {
  const head = headWith(exchange.sessionId, headers)
  if (writeHead(exchange, status, head)) exchange.connection.batch.end(exchange.response)
}

/** Writes the head of a JSON response. Returns `false` if the listener has already rejected the request. */
export function writeJsonHead(
  exchange: Exchange,
  status: number,
  length: number | undefined,
  headers?: HeaderList,
): boolean {
  return writeHead(exchange, status, jsonHead(exchange.sessionId, length, headers))
}

function writeHead(exchange: Exchange, status: number, headers: string[]): boolean {
  const { response, connection } = exchange
  if (!connection.beginResponse()) return false
  exchange.releaseBody()
  response.writeHead(status, headers)
  return true
}

function headWith(sessionId: string, more: HeaderList = []): string[] {
  return [sessionHeader, sessionId, ...corsHeaders, ...more]
}

const common: HeaderList = [...corsHeaders, ...neverStored]

/** @param length of the body in bytes; if `undefined`, Node.js sends it in chunks. */
function jsonHead(sessionId: string, length: number | undefined, more: HeaderList = []): string[] {
  const head = ['Content-Type', 'application/json', sessionHeader, sessionId, ...common, ...more]
  if (length !== undefined) head.push('Content-Length', String(length))
  return head
}

const bytesPerTurn = 1024 * 1024

/**
 * A list to send. `memory` counts what a slow reader keeps of it. Without it, that's the buffer of the first chunk if
 * `chunks` is an array, otherwise the copies not sent yet.
 */
export type SentList = Pick<ItemList, 'byteLength' | 'chunks'> &
  Partial<Pick<ItemList, 'memory' | 'release'>>

/** Sends a body of `before`, the list and `after`. Releases the list once the response is closed. */
export async function sendChunks(
  exchange: Exchange,
  before: string,
  {
    byteLength,
    chunks,
    memory = Array.isArray(chunks) ? memoryOf(chunks[0]) : new ReadMemory(),
    release = () => undefined,
  }: SentList,
  after: string,
): Promise<void> {
  const { connection, response } = exchange
  const { socket } = connection
  if (response.destroyed) return release()
  response.once('close', release) // until then, the socket reads from the list's memory
  exchange.countUntilClosed(memory, release)
  const copied = () => (byteLength === undefined ? socket.writableLength : 0) // chunks that can be read only once are copies
  // Reads the rest of the body, because some clients read no response until they have sent it all.
  if (!response.req.complete) response.req.resume()
  response.write(before)
  let written = 0
  for await (const chunk of chunks) {
    for (let start = 0; start < chunk.length; start += bytesPerTurn) {
      if (response.destroyed) return
      const piece = chunk.subarray(start, start + bytesPerTurn)
      response.write(piece)
      written += piece.length
      if (written < bytesPerTurn) continue
      written = 0
      if (socket.writableNeedDrain) {
        const unsent = copied()
        memory.change(unsent)
        await drained(socket)
        memory.change(-unsent)
      }
      await nextTurn() // a client that reads fast must not delay all others
    }
  }
  connection.markActive()
  response.end(after)
  memory.change(copied())
}

/** Waits for the socket's `drain`, because Node.js doesn't always emit it on the response. */
function drained(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      socket.off('drain', done).off('close', done)
      resolve()
    }
    socket.on('drain', done).on('close', done)
  })
}

type LogFailure = (exchange: Exchange, error: ApiError) => void

export function answerError(exchange: Exchange, thrown: unknown, logFailure: LogFailure): void {
  const error = toApiError(thrown, exchange.request.method)
  const { connection, response, sessionId } = exchange
  exchange.errorCode = error.code
  if (error.status >= 500) logFailure(exchange, error)
  // Once a response has begun, it can only be aborted.
  if (connection.state === 'responding') response.destroy()
  else if (exchange.answerError) exchange.answerError(error)
  else answerJson(exchange, error.status, errorBody(error, sessionId), error.headers)
}

const refusalCodes = {
  400: 'BAD_REQUEST',
  408: 'REQUEST_TIMEOUT',
  431: 'HEADERS_TOO_LARGE',
} as const

export function refusalResponse(refusal: Refusal): RefusalResponse {
  const [status, message] = refusals[refusal]
  const error = new ApiError(refusalCodes[status], message)
  const sessionId = randomUUID()
  const body = JSON.stringify(errorBody(error, sessionId))
  const headers = jsonHead(sessionId, Buffer.byteLength(body), error.headers)
  return { status: error.status, headers, body }
}

function toApiError(thrown: unknown, method: string | undefined): ApiError {
  if (thrown instanceof ApiError) return thrown
  if (thrown instanceof InvalidItemError || thrown instanceof UsageError) {
    return new ApiError('VALIDATION_ERROR', thrown.message)
  }
  const cause = thrown instanceof StoreError ? thrown.cause : thrown
  if (isOutOfMemory(cause)) {
    return method === 'GET' || method === 'HEAD'
      ? new ApiError('SERVICE_UNAVAILABLE', 'No memory is left for the response', { cause })
      : new ApiError('STORE_FULL', 'The store has no memory left', { cause })
  }
  if (thrown instanceof StoreError) {
    return new ApiError(thrown.code, thrown.message, { cause: thrown.cause })
  }
  return new ApiError('INTERNAL_ERROR', 'An internal error occurred', { cause: thrown })
}
