/** Reads the bodies of requests. @module */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { ApiError } from '../interface/errors.js'

/** The bounds of bodies, in bytes. */
export interface BodyLimits {
  /** Maximum length of a body. */
  readonly maxBodyBytes: number
  /** Maximum memory for bodies whose requests are not answered yet. */
  readonly maxPendingBytes: number
}

/**
 * The whole body, as it was sent. A client that waits for `100 Continue` before it sends it is told
 * to go on.
 * @throws {ApiError} `VALIDATION_ERROR` for a content type that is not JSON, `PAYLOAD_TOO_LARGE`,
 * `SERVICE_UNAVAILABLE` when too much is pending, `BAD_REQUEST` when the client breaks off.
 */
export type ReadBody = (request: IncomingMessage, response: ServerResponse) => Promise<Buffer>

/** `application/json` and the `+json` types, with any parameters (RFC 8259 §11, RFC 6839 §3.1). */
const jsonType = /^application\/(?:[\w!#$&^.+-]+\+)?json\s*(?:;(?:[^",]|"[^"]*")*)?$/i

/** RFC 9110 §10.1.1. */
const expectsContinue = /(?:^|,)\s*100-continue\s*(?:,|$)/i

const nothing = Buffer.alloc(0)

export function createBodyReader({ maxBodyBytes, maxPendingBytes }: BodyLimits): ReadBody {
  /** Memory that bodies take whose requests are not answered yet. */
  let pendingBytes = 0

  return function readBody(request, response) {
    checkHead(request, maxBodyBytes)
    if (expectsToGoOn(request)) response.writeContinue()

    return new Promise((resolve, reject) => {
      /** What has come so far, in its first `length` bytes: a list of chunks could take 400 times that. */
      let body: Buffer = nothing
      let length = 0
      let counted = 0

      function hold(next: Buffer): void {
        pendingBytes += next.length - counted
        counted = next.length
        body = next
      }

      /** What still comes is read and dropped, so that the client gets to read the answer. */
      function refuse(error: ApiError): void {
        hold(nothing)
        request.off('data', take).resume()
        reject(error)
      }

      function take(chunk: Buffer): void {
        const needed = length + chunk.length
        if (needed > maxBodyBytes) {
          refuse(tooLarge(maxBodyBytes))
          return
        }
        if (length === 0) {
          hold(chunk)
        } else if (needed > body.length) {
          const larger = enlarged(body, Math.min(2 * needed, maxBodyBytes))
          if (larger === undefined) {
            refuse(new ApiError('SERVICE_UNAVAILABLE', 'There is no memory for the body'))
            return
          }
          hold(larger)
        }
        if (length > 0) chunk.copy(body, length)
        length = needed
        if (pendingBytes > maxPendingBytes) {
          const excess = {
            limit: 'MAX_PENDING_BYTES',
            maximum: maxPendingBytes,
            value: pendingBytes,
          }
          refuse(new ApiError('SERVICE_UNAVAILABLE', 'Too many bodies are being sent', { excess }))
        }
      }

      request.on('data', take).once('end', () => {
        resolve(body.subarray(0, length))
        body = nothing
      })
      // The request says nothing of its end if the answer comes first. Until then its item is held, too.
      response.once('close', () => {
        hold(nothing)
        request.off('data', take) // it has the promise with the body, and an idle connection has it
        if (!request.complete) reject(brokenOff())
      })
    })
  }
}

/** @throws {ApiError} when the head of the request tells already that its body is not to be taken. */
function checkHead({ headers }: IncomingMessage, maxBodyBytes: number): void {
  const type = headers['content-type']
  if (type !== undefined && !jsonType.test(type)) {
    throw new ApiError(
      'VALIDATION_ERROR',
      `The Content-Type is "${type}"; expected application/json`,
    )
  }
  if (Number(headers['content-length'] ?? 0) > maxBodyBytes) throw tooLarge(maxBodyBytes)
}

function expectsToGoOn({ headers, httpVersion }: IncomingMessage): boolean {
  return httpVersion === '1.1' && expectsContinue.test(headers.expect ?? '')
}

/** `undefined` when the system has no memory left. */
function enlarged(body: Buffer, length: number): Buffer | undefined {
  try {
    const larger = Buffer.allocUnsafeSlow(length)
    body.copy(larger)
    return larger
  } catch {
    return undefined
  }
}

function brokenOff(): ApiError {
  return new ApiError('BAD_REQUEST', 'The body was cut short')
}

function tooLarge(maxBytes: number): ApiError {
  return new ApiError('PAYLOAD_TOO_LARGE', `The body is longer than ${maxBytes} bytes`)
}
