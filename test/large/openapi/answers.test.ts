/** Checks that the OpenAPI document lists all responses of the service, and no others. */

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { type ItemStore, StoreError } from '../../../src/store/item-store.js'
import { createMemoryStore } from '../../../src/store/memory/store.js'
import { type Answer, type RequestOptions, send } from '../../conformance/client.js'
import { itemOf } from '../../conformance/expect.js'
import { inSeconds, mintToken, validClaims } from '../../conformance/tokens.js'
import { ownApp } from '../../support/own-app.js'
import { exchangeOne } from '../../support/socket.js'
import { createChecker, type Operation, operationsOf, servedDocument } from './document.js'

const secret = 'a secret of at least thirty-two bytes'
const token = mintToken(validClaims(), { secret })
const room = 1_000_000 // bytes of all items
const memory = createMemoryStore(room)

const exceededLimit = () => ({ limit: 'MAX_MEMORY_BYTES', maximum: 1, value: 2 })
const unavailable = () => new StoreError('STORE_UNAVAILABLE', 'The store cannot be reached')
const rejectDelete = () => Promise.reject(new StoreError('STORE_FULL', 'No memory is left'))

/** Services that share their items. All except `normal` fail in different ways. */
const origins = {
  normal: await serve(),
  broken: await serve({ store: failing(() => new Error('unexpected')) }),
  unreachable: await serve({ store: { ...failing(unavailable), healthy: () => false } }),
  full: await serve({ store: { ...memory, delete: rejectDelete } }),
  overloaded: await serve({ load: { limits: [], exceededLimit } }),
  impatient: await serve({}, { requestTimeout: 1 }),
}

const document = await servedDocument(origins.normal)
const operations = operationsOf(document)
const { assertDocumented, outcomesOf } = createChecker(document)
const [server] = document.servers
const prefix = server?.url ?? ''

/** A valid body with members that no schema names, and numbers that a double cannot represent. */
const validBody = '{"data":{"big":12345678901234567890,"huge":1e400,"free":[null,{"a":1.0}]}}'
const largeBody = JSON.stringify({ data: { text: 'x'.repeat(room) } })

/** Each operation's response to an unfinished request. Sent in parallel, because each takes the whole timeout. */
const timedOut = new Map(
  await Promise.all(
    operations.map(async (operation) => {
      const answer = await askRaw(operation, randomUUID(), (head) => head, origins.impatient)
      return [operation, answer] as const
    }),
  ),
)

/** Functions that provoke each error, by its code. If an operation never returns it, any response will do. */
const provocations: Record<string, (operation: Operation, id: string) => Promise<Answer>> = {
  success: (operation, id) => ask(operation, id),
  'no change': (operation, id) => askWith(operation, id, { 'if-none-match': '*' }),
  PRECONDITION_FAILED: (operation, id) => askWith(operation, id, { 'if-match': '"other"' }),
  IDEMPOTENCY_CONFLICT: async (operation, id) => {
    const headers = { 'idempotency-key': id }
    if (operation.requestBody) await ask(operation, id, { headers, body: '{"data":{}}' })
    return askWith(operation, id, headers)
  },
  'unknown item': (operation) => ask(operation, randomUUID()),
  MISSING_TOKEN: (operation, id) => askWith(operation, id, { authorization: undefined }),
  TOKEN_EXPIRED: (operation, id) =>
    ask(operation, id, { token: mintToken({ sub: 'a', exp: inSeconds(-1) }, { secret }) }),
  INVALID_TOKEN: (operation, id) => ask(operation, id, { token: `${token}A` }),
  AUTH_NOT_CONFIGURED: async (operation, id) => {
    delete process.env.JWT_SECRET
    try {
      return await ask(operation, id)
    } finally {
      process.env.JWT_SECRET = secret
    }
  },
  BAD_REQUEST: (operation, id) =>
    askRaw(operation, id, (head) => `${head.replace('Host: a\r\n', '')}\r\n`),
  'BAD_REQUEST for the path': (operation) => ask(operation, '%zz'),
  ROUTE_NOT_FOUND: (operation) => ask(operation, 'a/b'),
  METHOD_NOT_ALLOWED: (operation, id) => ask(operation, operation.method === 'GET' ? id : ''), // GET /items/ is allowed
  REQUEST_TIMEOUT: async (operation) => timedOut.get(operation) ?? assert.fail(),
  PAYLOAD_TOO_LARGE: (operation, id) =>
    askRaw(operation, id, (head) => `${head}Content-Length: ${16 * 1024 * 1024 + 1}\r\n\r\n`),
  VALIDATION_ERROR: (operation, id) => ask(operation, id, { body: '{"title":"x"}' }),
  'VALIDATION_ERROR for the query': (operation, id) =>
    ask({ ...operation, path: `${operation.path}?project_id=` }, id),
  HEADERS_TOO_LARGE: (operation, id) => askWith(operation, id, { large: 'x'.repeat(16 * 1024) }),
  INTERNAL_ERROR: (operation, id) => ask(operation, id, {}, origins.broken),
  SERVICE_UNAVAILABLE: (operation, id) => ask(operation, id, {}, origins.overloaded),
  STORE_UNAVAILABLE: (operation, id) => ask(operation, id, {}, origins.unreachable),
  STORE_FULL: (operation, id) => ask(operation, id, { body: largeBody }),
  'STORE_FULL for a delete': (operation, id) => ask(operation, id, {}, origins.full),
}

const real = new Set<string>() // bodies and headers of responses, with placeholders for ids and hashes

for (const operation of operations) {
  test(`${operation.operationId}: every response is documented, and every documented response occurs`, async () => {
    const seen = new Set<string>()
    for (const [title, provoke] of Object.entries(provocations)) {
      const answer = await provoke(operation, await newItem())
      keep(answer)
      try {
        seen.add(assertDocumented(operation, answer))
      } catch (cause) {
        throw new Error(`${title}: ${cause}`, { cause })
      }
    }
    assert.deepEqual([...seen].sort(), outcomesOf(operation).sort())
  })
}

test('requests from the examples get the responses in the examples, and all examples are real', async () => {
  const { examples, headers } = document.components
  const { itemRequest, replaceRequest, ...responses } = examples
  const origin = await serve({ store: createMemoryStore(room) })
  const request = async (method: string, path: string, body?: unknown, headers = {}) => {
    const options = body === undefined ? {} : { body: JSON.stringify(body) }
    const answer = await send(origin, method, prefix + path, { token, headers, ...options })
    keep(answer)
    return answer
  }
  const key = { 'idempotency-key': randomUUID() }
  const created = await request('POST', '/items', itemRequest?.value, key)
  await request('POST', '/items', itemRequest?.value, key)
  const path = `/items/${itemOf(created, 201).id}`
  await request('GET', '/items')
  await request('GET', path)
  await request('GET', path, undefined, { 'if-none-match': '*', prefer: 'wait=1' })
  await request('PUT', path, replaceRequest?.value)
  await request('DELETE', path)
  await request('GET', path)
  await request('GET', '/health')
  for (const [name, { value }] of Object.entries(responses)) {
    assert.ok(real.has(withoutIds(JSON.stringify(value))), `${name} is not a real response`)
  }
  for (const [name, { example }] of Object.entries(headers)) {
    assert.ok(real.has(`${name.toLowerCase()}: ${withoutIds(String(example))}`), name)
  }
})

function keep({ headers, text }: Answer): void {
  real.add(withoutIds(text))
  for (const [name, value] of Object.entries(headers)) {
    real.add(`${name}: ${withoutIds(String(value))}`)
  }
}

function withoutIds(text: string): string {
  return text
    .replaceAll(/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g, '<uuid>')
    .replace(/^"[\w-]{43}"$/, '<hash>')
}

async function newItem(): Promise<string> {
  const created = await send(origins.normal, 'POST', `${prefix}/items`, { token, body: validBody })
  return itemOf(created, 201).id
}

function ask(
  { method, path, requestBody }: Operation,
  itemId: string,
  options: RequestOptions = {},
  origin = origins.normal,
): Promise<Answer> {
  return send(origin, method, `${prefix}${path.replace('{item_id}', itemId)}`, {
    token,
    ...(requestBody === undefined ? {} : { body: validBody }),
    ...options,
  })
}

function askWith(operation: Operation, id: string, headers: RequestOptions['headers'] = {}) {
  return ask(operation, id, { headers })
}

/** @param finish completes the head of the request. */
function askRaw(
  { method, path }: Operation,
  itemId: string,
  finish: (head: string) => string,
  origin = origins.normal,
): Promise<Answer> {
  const line = `${method} ${prefix}${path.replace('{item_id}', itemId)} HTTP/1.1\r\nHost: a\r\n`
  return exchangeOne(origin, finish(`${line}Authorization: Bearer ${token}\r\n`))
}

function failing(error: () => Error): ItemStore {
  const fail = () => Promise.reject(error())
  const changes = { create: fail, replace: fail, delete: fail }
  return { ...memory, ...changes, read: fail, list: fail, healthy: fail }
}

async function serve(...[parts, config]: Parameters<typeof ownApp>): Promise<URL> {
  return new URL((await ownApp({ store: memory, ...parts }, config)).baseUrl.origin)
}
