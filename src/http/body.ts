/** Reads request bodies. @module */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Config } from '../config/settings.js'
import { ApiError, bytesText } from '../interface/errors.js'
import type { Awaitable } from '../store/item-store.js'
import { isMapped, mapped, mappedFrom, readBytes, resized } from '../store/mapped.js'

/**
 * Reads the complete body, as it was sent. A client that expects `100 Continue` first gets it.
 * @param use gets the body, which it must not keep: memory for large ones is used again.
 * @returns what `use` returns, or throws.
 * @throws {ApiError} `VALIDATION_ERROR` for a content type that is not JSON, `PAYLOAD_TOO_LARGE`,
 * `SERVICE_UNAVAILABLE` if too much is pending, `BAD_REQUEST` if the body is cut short.
 */
export type ReadBody = <T>(
  request: IncomingMessage,
  response: ServerResponse,
  use: (body: Buffer) => T,
) => Awaitable<T>

/** `application/json` and the `+json` types, with any parameters (RFC 8259 §11, RFC 6839 §3.1). */
const jsonType = /^application\/(?:[\w!#$&^.+-]+\+)?json\s*(?:;(?:[^",]|"(?:[^"\\]|\\.)*")*)?$/i

/** RFC 9110 §10.1.1. */
const continueExpectation = /(?:^|,)\s*100-continue\s*(?:,|$)/i

const nothing = Buffer.alloc(0)

export function createBodyReader({
  maxBodyBytes,
  maxPendingBytes,
}: Pick<Config, 'maxBodyBytes' | 'maxPendingBytes'>): ReadBody {
  /** Memory taken by the bodies of unanswered requests. */
  let pendingBytes = 0

  function tooMuchPending(): ApiError {
    const exceeded = {
      limit: 'pending request bodies',
      maximum: maxPendingBytes,
      value: pendingBytes,
    }
    return new ApiError('SERVICE_UNAVAILABLE', 'Too many request bodies are being received', {
      exceeded,
    })
  }

  return function readBody(request, response, use) {
    checkHead(request, maxBodyBytes)
    if (expectsContinue(request)) response.writeContinue()
    return request.complete ? readComplete(request, response, use) : receive(request, response, use)
  }

  /** A small body comes in one packet with the head, and needs no events. */
  function readComplete<T>(
    request: IncomingMessage,
    response: ServerResponse,
    use: (body: Buffer) => T,
  ): T {
    const body = receivedBody(request)
    if (body.length > maxBodyBytes) throw tooLarge(maxBodyBytes)
    if (pendingBytes + body.length > maxPendingBytes) throw tooMuchPending()
    pendingBytes += body.length
    response.once('close', () => {
      pendingBytes -= body.length
    })
    return use(body)
  }

  function receive<T>(
    request: IncomingMessage,
    response: ServerResponse,
    use: (body: Buffer) => T,
  ): Promise<T> {
    const maxLength = Number(request.headers['content-length'] ?? maxBodyBytes)
    return new Promise((resolve, reject) => {
      /** Its first `length` bytes have been received. A list of tiny chunks could take 400 times as much memory. */
      let body: Buffer = nothing
      let length = 0
      let counted = 0

      function hold(next: Buffer): void {
        pendingBytes += next.length - counted
        counted = next.length
        body = next
      }

      /** The rest is read and discarded, so that the client can read the response. */
      function refuse(error: ApiError): void {
        hold(nothing)
        request.off('data', append).resume()
        reject(error)
      }

      function append(chunk: Buffer): void {
        const needed = length + chunk.length
        if (needed > maxBodyBytes) {
          refuse(tooLarge(maxBodyBytes))
          return
        }
        if (length === 0) {
          hold(chunk)
        } else if (needed > body.length) {
          const larger = enlarge(body, Math.min(2 * needed, maxLength), maxLength)
          if (larger === undefined) {
            refuse(new ApiError('SERVICE_UNAVAILABLE', 'Not enough memory for the request body'))
            return
          }
          hold(larger)
        }
        if (length > 0) chunk.copy(body, length)
        length = needed
        if (pendingBytes > maxPendingBytes) refuse(tooMuchPending())
      }

      request.on('data', append).once('end', () => {
        try {
          resolve(readBytes(body.subarray(0, length), use))
        } catch (error) {
          reject(error)
        }
        body = nothing
      })
      // The request emits no `end` if the response comes first. Until the response is sent, the item takes memory too.
      response.once('close', () => {
        hold(nothing)
        request.off('data', append) // an idle connection keeps the request, and so would keep the body
        if (!request.complete) reject(bodyCutShort())
      })
    })
  }
}

/** All that has been received: since Node.js 26, `read` returns one piece at a time, such as a chunk. */
function receivedBody(request: IncomingMessage): Buffer {
  const first: Buffer = request.read() ?? nothing
  if (request.readableLength === 0) return first
  const pieces = [first]
  while (request.readableLength > 0) pieces.push(request.read())
  return Buffer.concat(pieces)
}

/** @throws {ApiError} if the head alone is reason to refuse the body. */
function checkHead({ headers }: IncomingMessage, maxBodyBytes: number): void {
  const type = headers['content-type']
  if (type !== undefined && !jsonType.test(type)) {
    throw new ApiError(
      'VALIDATION_ERROR',
      `The Content-Type is "${type}"; expected application/json`,
    )
  }
  const encoding = headers['content-encoding'] ?? ''
  if (!isIdentity(encoding)) {
    throw new ApiError(
      'VALIDATION_ERROR',
      `The Content-Encoding is "${encoding}"; compressed bodies are not supported, send the JSON as it is`,
    )
  }
  if (Number(headers['content-length'] ?? 0) > maxBodyBytes) throw tooLarge(maxBodyBytes)
}

/** Whether a list of content codings changes nothing (RFC 9110 §8.4). */
function isIdentity(encoding: string): boolean {
  return encoding.split(',').every((coding) => /^\s*(?:identity)?\s*$/i.test(coding))
}

function expectsContinue({ headers, httpVersion }: IncomingMessage): boolean {
  return httpVersion === '1.1' && continueExpectation.test(headers.expect ?? '')
}

/** The same with more room; `undefined` if there is no memory for it. @param maxLength what it may ever need. */
function enlarge(body: Buffer, length: number, maxLength: number): Buffer | undefined {
  try {
    if (isMapped(body)) return resized(body, length)
    const larger = length < mappedFrom ? Buffer.allocUnsafeSlow(length) : mapped(length, maxLength)
    body.copy(larger)
    return larger
  } catch {
    return undefined
  }
}

function bodyCutShort(): ApiError {
  return new ApiError('BAD_REQUEST', 'The request body was cut short')
}

function tooLarge(maxBytes: number): ApiError {
  return new ApiError('PAYLOAD_TOO_LARGE', `The request body is larger than ${bytesText(maxBytes)}`)
}
