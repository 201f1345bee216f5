/**
 * Arbitrary conversations with the service. Several clients send valid and invalid requests at the same time. A plan
 * says in which pieces a client sends, how it reads, and how it leaves.
 */

import fc from 'fast-check'
import { jsonValue } from '../../support/json-text.js'

export interface Conversation {
  readonly connections: readonly ConnectionPlan[]
  /** Number of open connections that send nothing. */
  readonly idleConnections: number
}

export interface ConnectionPlan {
  readonly requests: readonly RequestPlan[]
  /** Lengths of the first pieces that are written; the rest is written in one. */
  readonly pieces: readonly number[]
  /** Pause before the first piece and after each piece, in milliseconds. */
  readonly pause: number
  /** `never`: the client leaves without waiting for a response. */
  readonly reading: 'fast' | 'slow' | 'late' | 'never'
  readonly ending: Ending
  /** Number of bytes of the last request that are never sent. */
  readonly unsent: number
}

/** How a client leaves: after all answers, with its side closed as soon as all is sent, or earlier. */
export type Ending =
  | { readonly kind: 'wait' | 'half-close' | 'leave' }
  | { readonly kind: 'reset while sending' | 'reset while reading'; readonly bytes: number }

export const tokens = ['good', 'another', 'forged', 'expired', 'basic', 'none'] as const
export const malformed = [
  'GARBAGE\r\n\r\n',
  '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'GET / HTTP/9.9\r\nHost: a\r\n\r\n',
  'BREW / HTTP/1.1\r\nHost: a\r\n\r\n',
  'GET /api/v1/health HTTP/1.1\r\nHost: a\r\nBad\x00: b\r\n\r\n',
  'GET /api/v1/health HTTP/1.1\r\nHost : a\r\n\r\n',
  'GET /api/v1/health HTTP/1.1\nHost: a\n\n',
  'POST /api/v1/items HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n',
  'POST /api/v1/items HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n',
  'POST /api/v1/items HTTP/1.1\r\nHost: a\r\nContent-Length: +2\r\n\r\n',
  'POST /api/v1/items HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n',
] as const

export type Body =
  | { readonly kind: 'text'; readonly json: string }
  | { readonly kind: 'padded'; readonly length: number }
  | { readonly kind: 'invalid'; readonly text: string }
  | { readonly kind: 'minimal' | 'too long' | 'none' }

export interface RequestPlan {
  readonly what:
    | ('create' | 'replace' | 'delete' | 'read' | 'list' | 'health')
    | ('preflight' | 'options' | 'patch' | 'unknown path' | 'bad path' | 'connect' | 'malformed')
  readonly isHead: boolean
  /** Picks the item, or the malformed request. */
  readonly target: number
  readonly isUnknownId: boolean
  readonly token: (typeof tokens)[number]
  readonly body: Body
  /** Lengths of the chunks of the body; empty for a body with `Content-Length`. */
  readonly chunks: readonly number[]
  readonly brokenChunk: 'no' | 'size' | 'end'
  readonly expectsContinue: boolean
  readonly contentType: 'json' | 'none' | 'other'
  readonly keeping: 'open' | 'close' | '1.0' | '1.0 kept' | 'upgrade'
  readonly host: 'good' | 'none' | 'bad' | 'two'
  readonly head: 'plain' | 'line breaks before' | 'many lines' | 'long'
}

/** The first value in most cases, otherwise one of the others. */
function mostly<T>(usual: T, weight: number, ...others: readonly T[]): fc.Arbitrary<T> {
  return fc.oneof(
    { weight, arbitrary: fc.constant(usual) },
    { weight: 1, arbitrary: fc.constantFrom(...others) },
  )
}

const body: fc.Arbitrary<Body> = fc.oneof(
  {
    weight: 8,
    arbitrary: jsonValue.map((json) => ({ kind: 'text', json }) as const),
  },
  {
    weight: 4,
    arbitrary: fc
      .oneof(fc.nat(2_000), fc.nat(200_000))
      .map((length) => ({ kind: 'padded', length }) as const),
  },
  {
    weight: 2,
    arbitrary: fc
      .constantFrom('{}', '[]', '{"data":[]}', '{"data":{"a":1,}}', '{"data":{},"project_id":""}')
      .map((text) => ({ kind: 'invalid', text }) as const),
  },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom('\xff{"data":{}}', '{"data":{"a":"\xed\xa0\x80"}}', '[[[[', ' ')
      .map((text) => ({ kind: 'invalid', text }) as const),
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom('minimal', 'too long', 'none').map((kind) => ({ kind }) as const),
  },
)

const request: fc.Arbitrary<RequestPlan> = fc.record({
  what: fc.oneof(
    { weight: 5, arbitrary: fc.constant('create' as const) },
    { weight: 4, arbitrary: fc.constantFrom('replace' as const, 'read', 'delete') },
    { weight: 2, arbitrary: fc.constantFrom('list' as const, 'health') },
    {
      weight: 2,
      arbitrary: fc.constantFrom(
        ...(['preflight', 'options', 'patch', 'unknown path', 'bad path'] as const),
        ...(['connect', 'malformed'] as const),
      ),
    },
  ),
  isHead: mostly(false, 5, true),
  target: fc.nat(1_000),
  isUnknownId: mostly(false, 8, true),
  token: mostly<RequestPlan['token']>('good', 12, ...tokens),
  body,
  chunks: fc.oneof(fc.constant([]), fc.array(fc.integer({ min: 1, max: 3_000 }), { maxLength: 6 })),
  brokenChunk: mostly<RequestPlan['brokenChunk']>('no', 12, 'size', 'end'),
  expectsContinue: mostly(false, 6, true),
  contentType: mostly<RequestPlan['contentType']>('json', 10, 'none', 'other'),
  keeping: mostly<RequestPlan['keeping']>('open', 15, 'close', '1.0', '1.0 kept', 'upgrade'),
  host: mostly<RequestPlan['host']>('good', 30, 'none', 'bad', 'two'),
  head: mostly<RequestPlan['head']>(
    ...(['plain', 25, 'line breaks before', 'many lines', 'long'] as const),
  ),
})

const ending: fc.Arbitrary<Ending> = fc.oneof(
  { weight: 4, arbitrary: fc.constant({ kind: 'wait' } as const) },
  { weight: 3, arbitrary: fc.constant({ kind: 'half-close' } as const) },
  { weight: 1, arbitrary: fc.constant({ kind: 'leave' } as const) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constantFrom('reset while sending' as const, 'reset while reading'),
      bytes: fc.oneof(fc.nat(1_000), fc.nat(300_000)),
    }),
  },
)

const connection: fc.Arbitrary<ConnectionPlan> = fc.record({
  requests: fc.array(request, { minLength: 1, maxLength: 8 }),
  pieces: fc.oneof(
    fc.constant([]),
    fc.array(fc.oneof(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 1, max: 90_000 })), {
      maxLength: 8,
    }),
  ),
  pause: fc.constantFrom(0, 0, 1, 5),
  reading: mostly<ConnectionPlan['reading']>('fast', 3, 'slow', 'late', 'never'),
  ending,
  unsent: fc.oneof({ weight: 9, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(300) }),
})

export const conversation: fc.Arbitrary<Conversation> = fc.record({
  connections: fc.array(connection, { minLength: 1, maxLength: 5 }),
  idleConnections: mostly(0, 30, 10, 300),
})
