/** Decisions on §4.1 and §7 that take a store that fails: the app runs in this process. */

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, test } from 'node:test'
import { pino } from 'pino'
import { createApp } from '../../src/app.js'
import { readConfig } from '../../src/config/read-config.js'
import { type ItemStore, StoreError } from '../../src/store/item-store.js'
import { createMemoryStore } from '../../src/store/memory/store.js'
import { send } from '../conformance/client.js'
import { record } from '../conformance/expect.js'
import { mintToken, validClaims } from '../conformance/tokens.js'
import { assertRefused } from './expect.js'

const secret = 'a secret of at least thirty-two bytes'
process.env.JWT_SECRET = secret
delete process.env.JWT_ALGORITHM

const cause = 'no space on disk 7'
const logged: Record<string, unknown>[] = []
const log = pino({ level: 'error' }, { write: (line: string) => logged.push(JSON.parse(line)) })
const options = { ...readConfig({}, {}), version: '1.2.3', maxBodyBytes: 1000 }

/** What does not fail below is done by this one. */
const memory = createMemoryStore(1000)

const requests = [
  { title: 'list', method: 'GET', path: '/items' },
  { title: 'create', method: 'POST', path: '/items', body: '{"data":{}}' },
  { title: 'read', method: 'GET', path: `/items/${randomUUID()}` },
  { title: 'replace', method: 'PUT', path: `/items/${randomUUID()}`, body: '{"data":{}}' },
  { title: 'delete', method: 'DELETE', path: `/items/${randomUUID()}` },
]
const failures = [
  {
    title: 'throws',
    fail: () => {
      throw new Error(cause)
    },
  },
  { title: 'rejects', fail: () => Promise.reject(new Error(cause)) },
  { title: 'rejects without an error', fail: () => Promise.reject(undefined) },
]
for (const { title, fail } of failures) {
  for (const { title: request, method, path, ...rest } of requests) {
    test(`§7 ${request}, the store ${title}: 500 INTERNAL_ERROR without internals`, async () => {
      const origin = await serve(failing(fail))
      const token = mintToken(validClaims(), { secret })
      const answer = await send(origin, method, `/api/v1${path}`, { token, ...rest })
      const message = assertRefused(answer, 500, 'INTERNAL_ERROR')
      assert.doesNotMatch(message, /disk|Error|at |\//)
      const line = logged.find((entry) => entry.session_id === answer.headers['x-session-id'])
      if (title !== 'rejects without an error') assert.match(JSON.stringify(line), /disk 7/)
      else assert.ok(line)
    })
  }

  test(`§4.1 the store ${title}: health is unhealthy, 503, one of two subsystems`, async () => {
    const origin = await serve({ ...failing(fail), healthy: () => false })
    const answer = await send(origin, 'GET', '/api/v1/health')
    assert.equal(answer.status, 503)
    const { status, services_summary, unhealthy_subsystems } = record(answer.json())
    assert.equal(status, 'unhealthy')
    assert.deepEqual(services_summary, { total: 2, healthy: 1, unhealthy: 1 })
    assert.deepEqual(unhealthy_subsystems, ['store'])
  })
}

test('§7 the store is full, reported later: 507 STORE_FULL', async () => {
  const full = () => Promise.reject(new StoreError('STORE_FULL', 'full'))
  const origin = await serve({
    ...memory,
    create: full,
    replace: full,
  })
  const token = mintToken(validClaims(), { secret })
  for (const { method, path, body } of requests) {
    if (body === undefined) continue
    const answer = await send(origin, method, `/api/v1${path}`, { token, body })
    assertRefused(answer, 507, 'STORE_FULL')
  }
})

test('§7 the store cannot be reached: 503 STORE_UNAVAILABLE with Retry-After, and why in the log', async () => {
  const cause = new Error('connect ECONNREFUSED')
  const fail = () =>
    Promise.reject(new StoreError('STORE_UNAVAILABLE', 'The store cannot be reached', { cause }))
  const token = mintToken(validClaims(), { secret })
  for (const { method, path, ...rest } of requests) {
    const origin = await serve(failing(fail))
    const answer = await send(origin, method, `/api/v1${path}`, { token, ...rest })
    assert.equal(assertRefused(answer, 503, 'STORE_UNAVAILABLE'), 'The store cannot be reached')
    assert.equal(answer.headers['retry-after'], '1')
    const line = logged.find((entry) => entry.session_id === answer.headers['x-session-id'])
    const { method: loggedMethod, path: loggedPath, status, error_code, err, ...more } = line ?? {}
    assert.deepEqual(
      [loggedMethod, loggedPath, status, error_code, more.cause, err],
      [method, `/api/v1${path}`, 503, 'STORE_UNAVAILABLE', 'connect ECONNREFUSED', undefined],
    )
  }
})

test('§4.2 a list of unknown length is sent in chunks, and is complete', async () => {
  const { id } = JSON.parse(
    await send(await serve(memory), 'POST', '/api/v1/items', {
      token: mintToken(validClaims(), { secret }),
      body: '{"data":{"a":1}}',
    }).then(({ text }) => text),
  ).data
  const origin = await serve({
    ...memory,
    list: async () => ({ ...(await memory.list()), byteLength: undefined }),
  })
  const token = mintToken(validClaims(), { secret })
  const answer = await send(origin, 'GET', '/api/v1/items', { token })
  assert.equal(answer.headers['transfer-encoding'], 'chunked')
  assert.equal(answer.headers['content-length'], undefined)
  assert.deepEqual(record(answer.json()).data, [{ id, project_id: null, a: 1 }])
  const head = await send(origin, 'HEAD', '/api/v1/items', { token })
  assert.deepEqual([head.status, head.text], [200, ''])
  await memory.delete(id)
})

test('§7 a list fails midway: the connection ends, and half a list does not look complete', async () => {
  const origin = await serve({
    ...memory,
    list: async () => ({ ...(await memory.list()), byteLength: 30, chunks: brokenChunks() }),
  })
  const token = mintToken(validClaims(), { secret })
  await assert.rejects(send(origin, 'GET', '/api/v1/items', { token }))
  assert.match(JSON.stringify(logged.at(-1)), /disk 7/)
  assert.equal((await send(origin, 'GET', '/api/v1/health')).status, 200)
})

function* brokenChunks(): Generator<Uint8Array> {
  yield Buffer.from('{"id":"x"')
  throw new Error(cause)
}

/** A store of which every operation on items fails. */
function failing(fail: () => Promise<never>): ItemStore {
  return { ...memory, create: fail, read: fail, replace: fail, delete: fail, list: fail }
}

async function serve(store: ItemStore): Promise<URL> {
  const app = createApp(options, { store, log })
  after(() => app.stop({ timeout: 0 }))
  return new URL(`http://127.0.0.1:${await app.listen(0, '127.0.0.1')}`)
}
