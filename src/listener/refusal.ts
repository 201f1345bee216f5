/** Finds requests that the listener rejects without calling the application. @module */

import { type IncomingMessage, STATUS_CODES } from 'node:http'
import { isIPv6 } from 'node:net'

/** Status and message of each rejection. */
export const refusals = {
  malformed: [400, 'The request is not valid HTTP/1.1'],
  unsupportedVersion: [400, 'The HTTP version must be 1.1 or 1.0'],
  missingHost: [400, 'The Host header is missing'],
  invalidHost: [400, 'The Host header must be one host with an optional port'],
  unsupportedTransferEncoding: [400, 'The only Transfer-Encoding supported is chunked'],
  transferEncodingInHttp10: [400, 'HTTP/1.0 has no Transfer-Encoding'], // a framing error (RFC 9112 §6.1)
  connect: [400, 'CONNECT is not supported'],
  headTooLarge: [431, 'The request head is too large'],
  tooManyHeaderLines: [431, 'The request has too many header lines'],
  requestTimeout: [408, 'The request did not arrive in time'],
} as const
export type Refusal = keyof typeof refusals

/** A response after which the listener closes the connection. */
export interface RefusalResponse {
  readonly status: number
  readonly headers: readonly string[] // names and values in turn
  readonly body: string
}

export type Refuse = (refusal: Refusal) => RefusalResponse

/** Matches a host, perhaps an IPv6 address, and an optional port. */
const hostAndPort =
  /^(?:\[(?:([\da-f:.]+)|v[\da-f]+\.[\w.~!$&'()*+;=:-]+)\]|(?:[\w.~!$&'()*+;=-]|%[\da-f]{2})*)(?::\d*)?$/i

/** True for a valid `Host` (RFC 9112 §3.2). Node joins repeated ones with commas, which are invalid. */
export function isHostAndPort(host: string): boolean {
  const match = hostAndPort.exec(host)
  return match !== null && (match[1] === undefined || isIPv6(match[1]))
}

/** Returns why a request that Node accepts is invalid; `undefined` for a valid head (RFC 9112 §3.2, §6.1). */
export function headRefusal(request: IncomingMessage, maxLines: number): Refusal | undefined {
  const { headers, httpVersion, rawHeaders } = request
  if (rawHeaders.length / 2 > maxLines) return 'tooManyHeaderLines'
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return 'unsupportedVersion'
  if (headers.host === undefined && httpVersion === '1.1') return 'missingHost'
  if (headers.host !== undefined && !isHostAndPort(headers.host)) return 'invalidHost'
  const encoding = headers['transfer-encoding']
  if (encoding === undefined) return undefined
  if (httpVersion === '1.0') return 'transferEncodingInHttp10'
  return encoding.toLowerCase() === 'chunked' ? undefined : 'unsupportedTransferEncoding'
}

/** True if a request asks to close its connection (RFC 9112 §9.3), which overrides `keep-alive`. */
export function asksToClose({ headers }: IncomingMessage): boolean {
  const { connection } = headers
  return connection !== undefined && /(?:^|,)[ \t]*close[ \t]*(?:,|$)/i.test(connection)
}

/** @param code error code from a `clientError` event. */
export function inputRefusal(code: string | undefined): Refusal {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'requestTimeout'
  return code === 'HPE_HEADER_OVERFLOW' ? 'headTooLarge' : 'malformed'
}

export function closingHeaders({ headers }: RefusalResponse): string[] {
  return [...headers, 'Connection', 'close']
}

export function refusalText(refusal: RefusalResponse): string {
  const headers = closingHeaders(refusal)
  const lines = [`HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}`]
  lines.push(`Date: ${new Date().toUTCString()}`)
  for (let at = 0; at < headers.length; at += 2) lines.push(`${headers[at]}: ${headers[at + 1]}`)
  return `${lines.join('\r\n')}\r\n\r\n${refusal.body}`
}
