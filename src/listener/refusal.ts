/** Finds requests that the listener rejects without the application, and formats the responses to them. @module */

import { type IncomingMessage, STATUS_CODES } from 'node:http'

/** Reason why a request is rejected before it reaches the application. */
export type Refusal =
  /** The input is not valid HTTP/1.1 (RFC 9112 §2.2). */
  | 'malformed'
  | 'unsupportedVersion'
  /** The header `Host` is missing (RFC 9112 §3.2). */
  | 'missingHost'
  | 'invalidHost'
  /** The transfer encoding is not chunked (RFC 9112 §6.1). */
  | 'unsupportedTransferEncoding'
  /** HTTP/1.0 with a transfer encoding: a server must treat this as a framing error (RFC 9112 §6.1). */
  | 'transferEncodingInHttp10'
  /** The method is CONNECT, which only proxies support. */
  | 'connect'
  | 'headTooLarge'
  | 'tooManyHeaderLines'
  /** The request did not arrive completely in time. */
  | 'requestTimeout'

/** Response that rejects a request. The listener sends the response, and then closes the connection. */
export interface RefusalResponse {
  readonly status: number
  /** Alternating header names and values. */
  readonly headers: readonly string[]
  readonly body: string
}

export type Refuse = (refusal: Refusal) => RefusalResponse

/**
 * Matches a `Host` header: `uri-host [ ":" port ]` (RFC 9112 §3.2, RFC 3986 §3.2.2). Commas are not allowed, because
 * Node uses commas to join repeated headers.
 */
const hostAndPort =
  /^(?:\[(?:[\da-f:.]+|v[\da-f]+\.[\w.~!$&'()*+;=:-]+)\]|(?:[\w.~!$&'()*+;=-]|%[\da-f]{2})*)(?::\d*)?$/i

/** Returns the reason to reject a request head that Node's parser accepts, if any (RFC 9112 §3.2 and §6.1). */
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

/**
 * Returns the reason for which Node's parser rejected the input. @param code the error's code in a `clientError` event.
 */
export function inputRefusal(code: string | undefined): Refusal {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'requestTimeout'
  return code === 'HPE_HEADER_OVERFLOW' ? 'headTooLarge' : 'malformed'
}

export function closingHeaders({ headers }: RefusalResponse): string[] {
  return [...headers, 'Connection', 'close']
}

/** Formats a rejection as the text of an HTTP response, for a socket that has no response object. */
export function refusalText(refusal: RefusalResponse): string {
  const headers = closingHeaders(refusal)
  const lines = [`HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}`]
  for (let at = 0; at < headers.length; at += 2) lines.push(`${headers[at]}: ${headers[at + 1]}`)
  return `${lines.join('\r\n')}\r\n\r\n${refusal.body}`
}
