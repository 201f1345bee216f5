/** A small HTTP client that sends exactly what it is told, right or wrong. */

import * as http from 'node:http'
import * as https from 'node:https'

/** A whole response. */
export interface Answer {
  readonly status: number
  /** Names in lower case. */
  readonly headers: http.IncomingHttpHeaders
  readonly text: string
  /** The body as parsed JSON. @throws {SyntaxError} */
  json(): unknown
}

export interface RequestOptions {
  /** Sent as `Authorization: Bearer <token>`. */
  readonly token?: string
  /** Sent as it is, as `application/json` unless `headers` say otherwise. */
  readonly body?: string | Uint8Array
  /** Names in lower case; one that is `undefined` is not sent. */
  readonly headers?: http.OutgoingHttpHeaders
}

const timeout = 20_000 // in milliseconds

/**
 * Sends one request, on a connection of its own.
 * @param target what stands in the request line behind the method, whatever it is.
 */
export function send(
  origin: URL,
  method: string,
  target: string,
  options: RequestOptions = {},
): Promise<Answer> {
  const { request } = origin.protocol === 'https:' ? https : http
  const body = options.body === undefined ? undefined : Buffer.from(options.body)
  const headers = headersOf(options, body)
  return new Promise((resolve, reject) => {
    const outgoing = request(origin, { method, path: target, headers, agent: false, timeout })
    outgoing
      .on('response', (response) => readAnswer(response).then(resolve, reject))
      .on('timeout', () => outgoing.destroy(new Error(`no answer to ${method} ${target}`)))
      // Comes after the answer too, where the service refuses a body that is still being sent.
      .on('error', reject)
      .end(body)
  })
}

/** Reads a response to its end. */
export async function readAnswer(response: http.IncomingMessage): Promise<Answer> {
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk)
  return answer(response.statusCode ?? 0, response.headers, Buffer.concat(chunks).toString())
}

export function answer(status: number, headers: http.IncomingHttpHeaders, text: string): Answer {
  return { status, headers, text, json: () => JSON.parse(text) }
}

function headersOf(
  { token, headers = {} }: RequestOptions,
  body: Buffer | undefined,
): http.OutgoingHttpHeaders {
  const all: http.OutgoingHttpHeaders = {
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    // Node would not say on GET and DELETE that a body follows.
    ...(body === undefined || 'transfer-encoding' in headers
      ? {}
      : { 'content-length': body.length }),
    ...headers,
  }
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
}
