/** Generates plans for clients that send valid and invalid requests at the same time. */

import fc from 'fast-check'
import { jsonValue } from '../../support/json-text.js'

export interface ConnectionPlan {
  readonly requests: readonly RequestPlan[]
  /** Lengths of the first pieces, in bytes. The remaining bytes follow in one piece. */
  readonly pieces: readonly number[]
  /** Pause before the first piece and after each piece, in milliseconds. */
  readonly pause: number
  /** With `never`, the client disconnects without waiting for a response. */
  readonly reading: 'fast' | 'slow' | 'never'
  readonly ending: Ending
  /** Number of bytes at the end of the last request that are never sent. */
  readonly unsent: number
}

export type Ending =
  | { readonly kind: 'wait' | 'half-close' | 'leave' }
  | { readonly kind: 'reset while sending' | 'reset while reading'; readonly bytes: number }

const tokens = ['good', 'another', 'forged', 'expired', 'basic', 'none'] as const

const chunkedHead = 'Transfer-Encoding: chunked\r\n\r\n'
const getHealth = 'GET /api/v1/health HTTP/1.1\r\n'
const postItems = 'POST /api/v1/items HTTP/1.1\r\nHost: a\r\n'

/** Requests whose head the service rejects, with the expected status. */
export const malformed: readonly [[status: number, text: string], ...[number, string][]] = [
  [431, `${getHealth}Host: a\r\n${'L: a\r\n'.repeat(200)}\r\n`],
  [431, `${getHealth}Host: a\r\nLong: ${'a'.repeat(20_000)}\r\n\r\n`],
  [400, 'GARBAGE\r\n\r\n'],
  [400, '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
  [400, 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  [400, 'GET / HTTP/9.9\r\nHost: a\r\n\r\n'],
  [400, 'BREW / HTTP/1.1\r\nHost: a\r\n\r\n'],
  [400, 'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n'],
  [400, `${getHealth}\r\n`],
  [400, `${getHealth}Host: a/b\r\n\r\n`],
  [400, `${getHealth}Host: a\r\nHost: a\r\n\r\n`],
  [400, `${getHealth}Host: a\r\nBad\x00: b\r\n\r\n`],
  [400, `${getHealth}Host : a\r\n\r\n`],
  [400, 'GET /api/v1/health HTTP/1.1\nHost: a\n\n'],
  [400, `${postItems}Content-Length: 2\r\n${chunkedHead}`],
  [400, `${postItems}Content-Length: 2\r\nContent-Length: 3\r\n\r\n`],
  [400, `${postItems}Content-Length: +2\r\n\r\n`],
  [400, `${postItems}Transfer-Encoding: gzip\r\n\r\n`],
]

type Body =
  | { readonly kind: 'text'; readonly json: string }
  | { readonly kind: 'padded'; readonly length: number }
  | { readonly kind: 'invalid'; readonly text: string }
  | { readonly kind: 'minimal' | 'too long' | 'none' }

export interface RequestPlan {
  readonly what:
    | ('create' | 'replace' | 'delete' | 'read' | 'list' | 'health')
    | ('preflight' | 'options' | 'patch' | 'unknown path' | 'bad path' | 'malformed')
  readonly isHead: boolean
  /** Number that selects an item for the path, or a malformed request. */
  readonly target: number
  readonly isUnknownId: boolean
  readonly token: (typeof tokens)[number]
  readonly body: Body
  /** Lengths of the body's chunks, in bytes; empty if the body has a `Content-Length`. */
  readonly chunks: readonly number[]
  readonly isChunkBroken: boolean
  readonly expectsContinue: boolean
  readonly isJson: boolean
  readonly keeping: 'open' | 'close' | '1.0'
}

function mostly<T>(usual: T, weight: number, ...others: readonly T[]): fc.Arbitrary<T> {
  return weighted<T>([weight, fc.constant(usual)], [1, fc.constantFrom(...others)])
}

function weighted<T>(...options: readonly [weight: number, fc.Arbitrary<T>][]): fc.Arbitrary<T> {
  return fc.oneof(...options.map(([weight, arbitrary]) => ({ weight, arbitrary })))
}

function upTo(small: number, large: number): fc.Arbitrary<number> {
  return fc.oneof(fc.integer({ min: 1, max: small }), fc.integer({ min: 1, max: large }))
}

const invalid = ['{}', '[]', '{"data":[]}', '{"data":{"a":1,}}', '{"data":{},"project_id":""}']
const notUtf8 = ['\xff{"data":{}}', '{"data":{"a":"\xed\xa0\x80"}}', '[[[[', ' ']

const body = weighted<Body>(
  [8, jsonValue.map((json) => ({ kind: 'text', json }))],
  [4, upTo(2_000, 200_000).map((length) => ({ kind: 'padded', length }))],
  [3, fc.constantFrom(...invalid, ...notUtf8).map((text) => ({ kind: 'invalid', text }))],
  [3, fc.constantFrom('minimal', 'too long', 'none').map((kind) => ({ kind }))],
)

const request: fc.Arbitrary<RequestPlan> = fc.record({
  what: weighted<RequestPlan['what']>(
    [5, fc.constant('create')],
    [4, fc.constantFrom('replace', 'read', 'delete')],
    [2, fc.constantFrom('list', 'health')],
    [2, fc.constantFrom('preflight', 'options', 'patch', 'unknown path', 'bad path')],
    [1, fc.constant('malformed')],
  ),
  isHead: mostly(false, 5, true),
  target: fc.nat(1_000),
  isUnknownId: mostly(false, 8, true),
  token: mostly<RequestPlan['token']>('good', 12, ...tokens),
  body,
  chunks: fc.oneof(fc.constant([]), fc.array(fc.integer({ min: 1, max: 3_000 }), { maxLength: 6 })),
  isChunkBroken: mostly(false, 6, true),
  expectsContinue: mostly(false, 6, true),
  isJson: mostly(true, 10, false),
  keeping: mostly<RequestPlan['keeping']>('open', 15, 'close', '1.0'),
})

const ending = weighted<Ending>(
  [4, fc.constant({ kind: 'wait' })],
  [3, fc.constant({ kind: 'half-close' })],
  [1, fc.constant({ kind: 'leave' })],
  [
    1,
    fc.record({
      kind: fc.constantFrom('reset while sending', 'reset while reading'),
      bytes: upTo(1_000, 300_000),
    }),
  ],
)

const connection: fc.Arbitrary<ConnectionPlan> = fc.record({
  requests: fc.array(request, { minLength: 1, maxLength: 8 }),
  pieces: fc.oneof(fc.constant([]), fc.array(upTo(60, 90_000), { maxLength: 8 })),
  pause: fc.constantFrom(0, 0, 1, 5),
  reading: mostly<ConnectionPlan['reading']>('fast', 3, 'slow', 'never'),
  ending,
  unsent: weighted([9, fc.constant(0)], [1, fc.nat(300)]),
})

export const conversation = fc.array(connection, { minLength: 1, maxLength: 5 })
