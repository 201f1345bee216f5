/** Reads request bodies. @module */

import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Config } from '../config/settings.js'
import { codeOf } from '../config/usage-error.js'
import { ApiError } from '../interface/errors.js'
import { type ArrivingBody, checkedAtOnce, noBytes } from '../item/item-request.js'
import { runToEnd, type Slices } from '../item/slices.js'
import { freed, isMapped, isOutOfMemory, mapped, mappedFrom, resized } from '../memory/mapped.js'
import { bytesText, type Limit } from '../memory/shares.js'
import type { Awaitable } from '../store/item-store.js'
import type { Exchange } from './exchange.js'
import { mayWorkNow, runInTurns, untilWorkMayRun } from './pacing.js'

/**
 * Reads a request body, and passes the bytes to `use` as they arrive.
 * @throws {ApiError} `VALIDATION_ERROR` (content type or coding), `PAYLOAD_TOO_LARGE`, `BAD_REQUEST` (body cut short),
 * or `SERVICE_UNAVAILABLE` (all pending bodies together take too much memory).
 */
export type ReadBody = <T>(exchange: Exchange, use: BodyUse<T>) => Awaitable<T>

/** Parses a body to its end. The result must not refer to the body's memory, which is released afterwards. */
type BodyUse<T> = (body: ArrivingBody) => Slices<T>

/** Called with each part of a body as it arrives. The part's bytes may change after the call. */
type BodyReceived = (exchange: Exchange, part: Buffer) => void

/** Matches `application/json` and types that end with `+json`, with any parameters (RFC 8259 §11, RFC 6839 §3.1). */
const jsonType = /^application\/(?:[\w!#$&^.+-]+\+)?json\s*(?:;(?:[^",]|"(?:[^"\\]|\\.)*")*)?$/i

const continueExpectation = /(?:^|,)\s*100-continue\s*(?:,|$)/i

export function createBodyReader(config: Config, onReceived: BodyReceived) {
  const { maxBodyBytes, maxPendingBytes } = config
  let pendingBytes = 0
  const value = () => pendingBytes
  const limit: Limit = { limit: 'pending request bodies', maximum: maxPendingBytes, value }

  const readBody: ReadBody = (exchange, use) => {
    const { headers, httpVersion, complete } = exchange.request
    checkHead(headers, maxBodyBytes)
    if (exchange.response.destroyed) throw cutShort() // nothing would free the body's memory
    const expectsContinue = continueExpectation.test(headers.expect ?? '')
    if (expectsContinue && httpVersion === '1.1') exchange.response.writeContinue()
    return complete ? readComplete(exchange, use) : receive(exchange, use)
  }
  return { limit, readBody }

  // Counts a body's memory until the response begins. Then the item's memory is counted by the store or for a reader.
  // Beyond the limit, refuses the newest body, not the largest as `BufferedBytes` does: one that has begun should be
  // read to its end.
  function countMemory(exchange: Exchange): (bytes: number) => void {
    let counted = 0
    let isOver = false
    exchange.releaseBody = () => {
      pendingBytes -= counted
      counted = 0
      isOver = true
    }
    exchange.response.once('close', exchange.releaseBody)
    return (bytes) => {
      if (isOver) return
      pendingBytes += bytes - counted
      counted = bytes
      if (pendingBytes <= maxPendingBytes || bytes === 0) return
      const detail = 'Too many request bodies are being received'
      const exceeded = { ...limit, value: pendingBytes }
      throw new ApiError('SERVICE_UNAVAILABLE', detail, { exceeded })
    }
  }

  function readComplete<T>(exchange: Exchange, use: BodyUse<T>): Awaitable<T> {
    const bytes = receivedBody(exchange.request)
    const { length } = bytes
    onReceived(exchange, bytes)
    if (length > maxBodyBytes) throw tooLarge(maxBodyBytes)
    const count = countMemory(exchange)
    count(length)
    const accountFor = (workBytes: number) => count(length + workBytes)
    const work = use({ bytes, length, isComplete: true, accountFor })
    return length <= checkedAtOnce && mayWorkNow(length) ? runToEnd(work) : runInTurns(work)
  }

  async function receive<T>(exchange: Exchange, use: BodyUse<T>): Promise<T> {
    const { request } = exchange
    const maxLength = Number(request.headers['content-length'] ?? maxBodyBytes)
    const count = countMemory(exchange)
    let workBytes = 0
    const body = {
      /** All bytes so far, in one buffer: an array of tiny chunks could take 400 times as much memory. */
      bytes: noBytes,
      length: 0,
      isComplete: false,
      accountFor(bytes: number): void {
        workBytes = bytes
        count(body.bytes.length + workBytes)
      },
    }

    function append(chunk: Buffer): void {
      const needed = body.length + chunk.length
      if (needed > maxBodyBytes) throw tooLarge(maxBodyBytes)
      if (body.length > 0 && needed > body.bytes.length) {
        body.bytes = enlarge(body.bytes, Math.min(2 * needed, maxLength), maxLength)
      }
      if (body.length === 0) body.bytes = chunk
      else chunk.copy(body.bytes, body.length)
      body.length = needed
      count(body.bytes.length + workBytes)
    }

    const work = use(body)
    try {
      for await (const chunk of request.iterator({ destroyOnReturn: false })) {
        onReceived(exchange, chunk)
        append(chunk)
        await untilWorkMayRun()
        while (work.next().value !== 'waiting') await untilWorkMayRun()
      }
      body.isComplete = true
      return await runInTurns(work)
    } catch (error) {
      request.resume() // many clients read no response until they have sent the body
      throw cutCodes.has(codeOf(error)) ? cutShort() : error
    } finally {
      // The length stays in the count of memory, because the parsed item takes memory too.
      if (isMapped(body.bytes)) freed(body.bytes)
      body.bytes = noBytes
    }
  }
}

/** Returns all buffered bytes. Since Node.js 26, each `read` returns only one chunk. */
function receivedBody(request: IncomingMessage): Buffer {
  const first: Buffer = request.read() ?? noBytes
  if (request.readableLength === 0) return first
  const pieces = [first]
  while (request.readableLength > 0) pieces.push(request.read())
  return Buffer.concat(pieces)
}

function checkHead(headers: IncomingHttpHeaders, maxBodyBytes: number): void {
  const type = headers['content-type']
  if (type !== undefined && !jsonType.test(type)) {
    const detail = `The Content-Type is "${type}"; expected application/json`
    throw new ApiError('VALIDATION_ERROR', detail)
  }
  const encoding = headers['content-encoding'] ?? ''
  // `identity` means that the body is not encoded (RFC 9110 §8.4).
  if (!encoding.split(',').every((coding) => /^(?:identity)?$/i.test(coding.trim()))) {
    const detail = `The Content-Encoding is "${encoding}"; compressed bodies are not supported, send the JSON as it is`
    throw new ApiError('VALIDATION_ERROR', detail)
  }
  if (Number(headers['content-length'] ?? 0) > maxBodyBytes) throw tooLarge(maxBodyBytes)
}

/** Returns a longer copy of the body, and may release `body`. @throws {ApiError} if no memory is left. */
function enlarge(body: Buffer, length: number, maxLength: number): Buffer {
  try {
    if (isMapped(body)) return resized(body, length)
    const larger = length < mappedFrom ? Buffer.allocUnsafeSlow(length) : mapped(length, maxLength)
    body.copy(larger)
    return larger
  } catch (error) {
    if (!isOutOfMemory(error)) throw error
    throw new ApiError('SERVICE_UNAVAILABLE', 'Not enough memory for the request body')
  }
}

/** Codes of Node's errors for a request whose body never arrives. */
const cutCodes = new Set<string | undefined>(['ECONNRESET', 'ERR_STREAM_PREMATURE_CLOSE'])

function cutShort(): ApiError {
  return new ApiError('BAD_REQUEST', 'The request body was cut short')
}

function tooLarge(maxBytes: number): ApiError {
  return new ApiError('PAYLOAD_TOO_LARGE', `The request body is larger than ${bytesText(maxBytes)}`)
}
