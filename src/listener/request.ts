/** Requests as they were sent. @module */

import type { IncomingMessage } from 'node:http'

/** Whether a request has a body that has not been received completely (RFC 9112 §6). */
export function isBodyIncomplete({ complete, headers }: IncomingMessage): boolean {
  const length = headers['content-length']
  const hasBody = headers['transfer-encoding'] !== undefined || (length ?? '0') !== '0'
  return hasBody && !complete
}

/** The head of a request as it was sent, except for white space and `Upgrade`. */
export function headOf({ method, url, httpVersion, rawHeaders }: IncomingMessage): Buffer {
  const lines = [`${method} ${url} HTTP/${httpVersion}`]
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (/^upgrade$/i.test(rawHeaders[at] ?? '')) continue
    lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`)
  }
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')
}
