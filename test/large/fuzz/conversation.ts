/** Generates plans for concurrent clients that send valid and invalid requests. */

import fc from 'fast-check'
import { jsonValue } from '../../support/json-text.js'

type Generated<A> = A extends fc.Arbitrary<infer T> ? T : never
export type ConnectionPlan = Generated<typeof connection>
export type RequestPlan = Generated<typeof request>

const tokens = ['good', 'another', 'forged', 'expired', 'basic', 'none'] as const

const getHealth = 'GET /api/v1/health HTTP/1.1\r\n'
const postItems = 'POST /api/v1/items HTTP/1.1\r\nHost: a\r\n'

/** Requests whose head the service rejects. More are in test/decisions/connection.test.ts. */
export const malformed: readonly [[status: number, text: string], ...[number, string][]] = [
  [431, `${getHealth}Host: a\r\n${'L: a\r\n'.repeat(200)}\r\n`],
  [431, `${getHealth}Host: a\r\nLong: ${'a'.repeat(20_000)}\r\n\r\n`],
  [400, 'GARBAGE\r\n\r\n'],
  [400, '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
  [400, 'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n'],
  [400, `${getHealth}Host: a\r\nHost: a\r\n\r\n`],
  [400, `${postItems}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n`],
  [400, `${postItems}Content-Length: 2\r\nContent-Length: 3\r\n\r\n`],
]

type What =
  | ('create' | 'replace' | 'delete' | 'read' | 'list' | 'health')
  | ('preflight' | 'options' | 'patch' | 'unknown path' | 'bad path' | 'malformed')

type Body =
  | { readonly kind: 'text'; readonly json: string }
  | { readonly kind: 'padded'; readonly length: number }
  | { readonly kind: 'invalid'; readonly text: string }
  | { readonly kind: 'minimal' | 'too long' | 'none' }

type Ending =
  | { readonly kind: 'wait' | 'half-close' | 'leave' }
  | { readonly kind: 'reset while sending' | 'reset while reading'; readonly bytes: number }

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

const request = fc.record({
  what: weighted<What>(
    [5, fc.constant('create')],
    [4, fc.constantFrom('replace', 'read', 'delete')],
    [2, fc.constantFrom('list', 'health')],
    [2, fc.constantFrom('preflight', 'options', 'patch', 'unknown path', 'bad path')],
    [1, fc.constant('malformed')],
  ),
  isHead: mostly(false, 5, true),
  target: fc.nat(1_000), // selects an item for the path, or a malformed request
  isUnknownId: mostly(false, 8, true),
  token: mostly<(typeof tokens)[number]>('good', 12, ...tokens),
  body,
  /** Lengths of the body's chunks, in bytes; empty if the body has a `Content-Length`. */
  chunks: fc.oneof(fc.constant([]), fc.array(fc.integer({ min: 1, max: 3_000 }), { maxLength: 6 })),
  isChunkBroken: mostly(false, 6, true),
  isJson: mostly(true, 10, false),
  isClosing: mostly(false, 15, true),
})

const ending = weighted<Ending>(
  [8, fc.constant({ kind: 'wait' })],
  [6, fc.constant({ kind: 'half-close' })],
  [2, fc.constant({ kind: 'leave' })],
  [1, fc.record({ kind: fc.constant('reset while sending'), bytes: upTo(1_000, 300_000) })],
  [1, fc.record({ kind: fc.constant('reset while reading'), bytes: upTo(1_000, 300_000) })],
)

const connection = fc.record({
  requests: fc.array(request, { minLength: 1, maxLength: 8 }),
  /** Lengths of the pieces in which the client sends its first bytes. All remaining bytes follow in one piece. */
  pieces: fc.oneof(fc.constant([]), fc.array(upTo(60, 90_000), { maxLength: 8 })),
  pause: fc.constantFrom(0, 0, 1, 5), // ms before the first piece and after each
  /** How fast the client reads. With `never`, it disconnects without waiting for a response. */
  reading: mostly<'fast' | 'slow' | 'never'>('fast', 3, 'slow', 'never'),
  ending,
  /** Number of bytes that are missing from the end of the last request. */
  unsent: weighted([9, fc.constant(0)], [1, fc.nat(300)]),
})

export const conversation = fc.array(connection, { minLength: 1, maxLength: 5 })
