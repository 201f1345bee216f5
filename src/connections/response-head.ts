/** The heads of all responses, composed in one place. @module */

import { STATUS_CODES } from 'node:http'
import { corsHeaders, type HeaderList, sessionHeader } from '../interface/headers.js'
import { newUuid } from '../uuid.js'

/** A new session id, UUID version 4 (spec §1.4). Never taken from the client. */
export function newSessionId(): string {
  return newUuid()
}

/** The headers of a response without a body. */
export function emptyHead(sessionId: string, more: HeaderList = []): string[] {
  return [sessionHeader, sessionId, ...corsHeaders, ...more]
}

/** The headers of a response with a JSON body, which is sent in chunks if its length is unknown. */
export function jsonHead(
  sessionId: string,
  length: number | undefined,
  more: HeaderList = [],
): string[] {
  const head = ['Content-Type', 'application/json', ...emptyHead(sessionId, more)]
  if (length !== undefined) head.push('Content-Length', String(length))
  return head
}

/** A head as text, for a socket that has no response object. */
export function headText(status: number, headers: HeaderList): string {
  const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`]
  for (let at = 0; at < headers.length; at += 2) lines.push(`${headers[at]}: ${headers[at + 1]}`)
  return `${lines.join('\r\n')}\r\n\r\n`
}
