/** A small HTTP client that sends requests exactly as given, whether or not they are valid. */

import * as http from 'node:http'
import * as https from 'node:https'
import { type Exchange, show, validTokens, watched } from './exchanges.js'
import { type MintOptions, mintToken, validClaims } from './tokens.js'

export interface Service {
  readonly baseUrl: URL
  readonly secret: string
  request(method: string, path: string, options?: RequestOptions): Promise<Answer>
  requestTarget(method: string, target: string, options?: RequestOptions): Promise<Answer>
  /** Sends a request with a valid token and, unless it's `undefined`, with `value` as JSON. */
  call(method: string, path: string, value?: unknown): Promise<Answer>
  /** @param options defaults to the service's secret and the algorithm HS256. */
  mint(claims: unknown, options?: Partial<MintOptions>): string
  validToken(): string
}

export interface Answer {
  readonly status: number
  readonly headers: http.IncomingHttpHeaders
  readonly text: string
  json(): unknown
}

export interface RequestOptions {
  readonly token?: string
  readonly body?: string | Uint8Array // sent unchanged, as `application/json` by default
  readonly headers?: http.OutgoingHttpHeaders // one that is `undefined` is not sent
}

let isMute = false

const longestAnswer = 120_000 // ms for a complete response

/** Returns the longest wait for data, in ms. @throws {Error} if an earlier request timed out. */
export function timeForAnswer(isLarge: boolean): number {
  if (isMute) throw new Error('not sent, because an earlier request had no answer')
  return isLarge ? 60_000 : 30_000
}

/** Returns the error for a request that got no response, and makes all later requests fail. */
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

/** Sends one request on a new connection, with `target` unchanged in its first line. */
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
      // A service may reject a body before it has read all of it. Write errors after the response are ignored.
      .on('error', reject)
      .end(body)
  })
}

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
    authorization: token === undefined ? undefined : `Bearer ${token}`,
    'content-type': body && 'application/json',
    'content-length': 'transfer-encoding' in headers ? undefined : body?.length,
    ...headers,
  }
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
}
