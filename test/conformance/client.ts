/** A small HTTP client that sends exactly what it is told, right or wrong. */

import * as http from 'node:http'
import * as https from 'node:https'
import { type Exchange, show, validTokens, watched } from './exchanges.js'
import { type MintOptions, mintToken, validClaims } from './tokens.js'

/** A service to send requests to. */
export interface Service {
  /** Ends with `/api/v1`. */
  readonly baseUrl: URL
  readonly secret: string
  /** Sends a request; the path is relative to the base url, as in the specification. */
  request(method: string, path: string, options?: RequestOptions): Promise<Answer>
  /** Sends a request whose target is not put behind the base url's path. */
  requestTarget(method: string, target: string, options?: RequestOptions): Promise<Answer>
  /** Sends a request with a valid token and, where given, a value as JSON. */
  call(method: string, path: string, value?: unknown): Promise<Answer>
  /** A token signed with the service's secret unless the options say otherwise. */
  mint(claims: unknown, options?: Partial<MintOptions>): string
  validToken(): string
}

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

let isMute = false

/** Longest time that a whole answer may take, however steadily it arrives, in milliseconds. */
const longestAnswer = 120_000

/**
 * Longest time to wait for an answer or more of it, in milliseconds, on a busy machine too.
 * @param isLarge whether there is much to do for it.
 * @throws {Error} once a request had no answer: a service that hangs is reported within seconds, and
 * not after that time for each request of all tests.
 */
export function timeForAnswer(isLarge: boolean): number {
  if (isMute) throw new Error('not asked, as an earlier request had no answer')
  return isLarge ? 60_000 : 30_000
}

/** @param what the request that had no answer in time. */
export function noAnswer(what: string): Error {
  isMute = true
  return new Error(`no answer to ${what}`)
}

/** @param baseUrl ends with `/api/v1`. */
export function serviceAt(baseUrl: URL, secret: string): Service {
  const mint = (claims: unknown, options?: Partial<MintOptions>) =>
    mintToken(claims, { secret, ...options })
  const validToken = () => {
    const token = mint(validClaims())
    validTokens.add(token)
    return token
  }
  const request = (method: string, path: string, options?: RequestOptions) =>
    send(baseUrl, method, baseUrl.pathname + path, options)
  return {
    baseUrl,
    secret,
    request,
    requestTarget: (method, target, options) => send(baseUrl, method, target, options),
    call: (method, path, value) =>
      request(method, path, {
        token: validToken(),
        ...(value === undefined ? {} : { body: JSON.stringify(value) }),
      }),
    mint,
    validToken,
  }
}

/**
 * Sends one request, on a connection of its own.
 * @param target what stands in the request line behind the method, whatever it is.
 */
export async function send(
  origin: URL,
  method: string,
  target: string,
  options: RequestOptions = {},
): Promise<Answer> {
  const { request } = origin.protocol === 'https:' ? https : http
  const body = options.body === undefined ? undefined : Buffer.from(options.body)
  const headers = headersOf(options, body)
  const exchange: Exchange = { method, url: origin.origin + target, headers, body }
  show(exchange)
  const timeout = timeForAnswer(body !== undefined && body.length > 1_000_000)
  return await new Promise((resolve, reject) => {
    const outgoing = request(origin, { method, path: target, headers, agent: false, timeout })
    const giveUp = () => {
      show(exchange)
      reject(noAnswer(`${method} ${target}`))
      outgoing.destroy()
    }
    const limit = setTimeout(giveUp, longestAnswer)
    outgoing
      .on('response', (response) =>
        readAnswer(response).then((whole) => resolve(watched(exchange, whole)), reject),
      )
      .on('timeout', giveUp)
      .on('close', () => clearTimeout(limit))
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
