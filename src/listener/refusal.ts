/**
 * What the listener refuses by itself. What such a response looks like is up to the application.
 *
 * @module
 */

import { type IncomingMessage, STATUS_CODES } from 'node:http'

/** Why a request is refused before it reaches the application. */
export type Refusal =
  /** Not valid HTTP/1.1 (RFC 9112 §2.2). */
  | 'malformed'
  | 'unsupportedVersion'
  /** RFC 9112 §3.2. */
  | 'missingHost'
  | 'invalidHost'
  /** Anything but chunked (RFC 9112 §6.1). */
  | 'unsupportedTransferEncoding'
  /** A server must treat this as a framing error (RFC 9112 §6.1). */
  | 'transferEncodingInHttp10'
  /** The method CONNECT: this is not a proxy. */
  | 'connect'
  | 'headTooLarge'
  | 'tooManyHeaderLines'
  /** The request did not arrive completely in time. */
  | 'requestTimeout'

/** A complete response, except that the listener closes the connection after it. */
export interface RefusalResponse {
  readonly status: number
  /** Alternating names and values. */
  readonly headers: readonly string[]
  readonly body: string
}

/** Composes the response to a refused request. */
export type Refuse = (refusal: Refusal) => RefusalResponse

/**
 * `uri-host [ ":" port ]` (RFC 9112 §3.2, RFC 3986 §3.2.2), but without commas in a name: they join
 * repeated headers.
 */
const hostAndPort =
  /^(?:\[(?:[\da-f:.]+|v[\da-f]+\.[\w.~!$&'()*+;=:-]+)\]|(?:[\w.~!$&'()*+;=-]|%[\da-f]{2})*)(?::\d*)?$/i

/** Why to refuse a head that Node's parser accepts, if at all (RFC 9112 §3.2 and §6.1). */
export function headRefusal(request: IncomingMessage, maxLines: number): Refusal | undefined {
  const { headers, httpVersion, rawHeaders } = request
  if (rawHeaders.length / 2 > maxLines) return 'tooManyHeaderLines'
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return 'unsupportedVersion'
  if (headers.host === undefined && httpVersion === '1.1') return 'missingHost'
  if (headers.host !== undefined && !hostAndPort.test(headers.host)) return 'invalidHost'
  const encoding = headers['transfer-encoding']
  if (encoding === undefined) return undefined
  if (httpVersion === '1.0') return 'transferEncodingInHttp10'
  return encoding.toLowerCase() === 'chunked' ? undefined : 'unsupportedTransferEncoding'
}

/** Why the parser gave up. @param code that of the error in the server's `clientError` event. */
export function inputRefusal(code: string | undefined): Refusal {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'requestTimeout'
  return code === 'HPE_HEADER_OVERFLOW' ? 'headTooLarge' : 'malformed'
}

/** The headers of a refusal, with the one that announces that the connection closes. */
export function closingHeaders({ headers }: RefusalResponse): string[] {
  return [...headers, 'Connection', 'close']
}

/** A refusal as text, for a socket without a response object. */
export function refusalText(refusal: RefusalResponse): string {
  const headers = closingHeaders(refusal)
  const lines = [`HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}`]
  for (let at = 0; at < headers.length; at += 2) lines.push(`${headers[at]}: ${headers[at + 1]}`)
  return `${lines.join('\r\n')}\r\n\r\n${refusal.body}`
}
