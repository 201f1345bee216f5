/** Reads the body of a request. @module */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { ApiError } from './errors.js'

/** `application/json` and the `+json` types, with any parameters (RFC 8259 §11, RFC 6839 §3.1). */
const jsonType = /^application\/(?:[\w!#$&^.+-]+\+)?json\s*(?:;(?:[^",]|"[^"]*")*)?$/i

/** RFC 9110 §10.1.1. */
const expectsContinue = /(?:^|,)\s*100-continue\s*(?:,|$)/i

/**
 * The whole body, as it was sent. A client that waits for `100 Continue` before it sends it is told
 * to go on.
 * @param maxBytes longest body to take.
 * @throws {ApiError} `VALIDATION_ERROR` for a content type that is not JSON, `PAYLOAD_TOO_LARGE`,
 * `BAD_REQUEST` when the client breaks off.
 */
export function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  maxBytes: number,
): Promise<Buffer> {
  const type = request.headers['content-type']
  if (type !== undefined && !jsonType.test(type)) {
    throw new ApiError(
      'VALIDATION_ERROR',
      `The Content-Type is "${type}"; expected application/json`,
    )
  }
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes)

  const { headers, httpVersion } = request
  if (httpVersion === '1.1' && expectsContinue.test(headers.expect ?? '')) response.writeContinue()

  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let length = 0
    request
      .on('data', (chunk: Buffer) => {
        length += chunk.length
        if (length <= maxBytes) {
          chunks.push(chunk)
        } else {
          // What still comes is read and dropped, so that the client gets to read the answer.
          chunks.length = 0
          request.removeAllListeners('data').resume()
          reject(tooLarge(maxBytes))
        }
      })
      .on('end', () => {
        const [first] = chunks
        resolve(first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks, length))
      })
      .on('error', () => {
        reject(new ApiError('BAD_REQUEST', 'The connection ended within the body'))
      })
  })
}

function tooLarge(maxBytes: number): ApiError {
  return new ApiError('PAYLOAD_TOO_LARGE', `The body is longer than ${maxBytes} bytes`)
}
