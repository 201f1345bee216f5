/** Tests what spec §4.1, §4.2 and §7 leave open about a store that fails. */

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { type ItemStore, StoreError } from '../../src/store/item-store.js'
import { createMemoryStore } from '../../src/store/memory/store.js'
import type { Answer } from '../conformance/client.js'
import { create, record } from '../conformance/expect.js'
import { type LogLine, type OwnApp, ownApp } from '../support/own-app.js'
import { ownService, ownTest } from '../support/own-service.js'
import { exchange, headOf } from '../support/socket.js'
import { assertRefused } from './expect.js'

const cause = 'no space on disk 7'

const memory = createMemoryStore(1000)

const value = { data: {} }
const path = `/items/${randomUUID()}`
const requests: [title: string, method: string, path: string, value?: object][] = [
  ['list', 'GET', '/items'],
  ['create', 'POST', '/items', value],
  ['read', 'GET', path],
  ['replace', 'PUT', path, value],
  ['delete', 'DELETE', path],
]
const failures = {
  throws: () => {
    throw new Error(cause)
  },
  rejects: () => Promise.reject(new Error(cause)),
  'rejects without an error': () => Promise.reject(undefined),
}

for (const [title, fail] of Object.entries(failures)) {
  for (const [request, method, path, value] of requests) {
    test(`§7 500 INTERNAL_ERROR without internals for a ${request} when the store ${title}`, async () => {
      const app = await ownApp({ store: failing(fail) })
      const answer = await app.call(method, path, value)
      const message = assertRefused(answer, 500, 'INTERNAL_ERROR')
      assert.doesNotMatch(message, /disk|Error|at |\//)
      const { err } = lineOf(app, answer) ?? assert.fail()
      const hasError = title !== 'rejects without an error'
      if (hasError) assert.match(JSON.stringify(err), /"stack":"Error: no space on disk 7\\n/)
    })
  }
}

test('§4.1 health is a 503 and unhealthy while the store, one of two subsystems, cannot serve', async () => {
  const app = await ownApp({ store: { ...memory, healthy: () => false } })
  const answer = await app.request('GET', '/health')
  assert.equal(answer.status, 503)
  const { status, services_summary, unhealthy_subsystems } = record(answer.json())
  assert.equal(status, 'unhealthy')
  assert.deepEqual(services_summary, { total: 2, healthy: 1, unhealthy: 1 })
  assert.deepEqual(unhealthy_subsystems, ['store'])
})

test('§7 503 STORE_UNAVAILABLE with Retry-After when the store cannot be reached, with the cause in the log', async () => {
  const message = 'The store cannot be reached'
  const cause = new Error('connect ECONNREFUSED')
  const fail = () => Promise.reject(new StoreError('STORE_UNAVAILABLE', message, { cause }))
  for (const [, method, path, value] of requests) {
    const app = await ownApp({ store: failing(fail) })
    const answer = await app.call(method, path, value)
    assert.equal(assertRefused(answer, 503, 'STORE_UNAVAILABLE'), message)
    assert.equal(answer.headers['retry-after'], '1')
    const { level, time, session_id, msg, count, ...line } = lineOf(app, answer) ?? {}
    const expected = { method, path: `/api/v1${path}`, status: 503, cause: cause.message }
    assert.deepEqual(line, { ...expected, error_code: 'STORE_UNAVAILABLE' })
  }
})

test('§7 the error says that nothing has changed if the store cannot be read for a condition or key', async () => {
  const fail = () => Promise.reject(new StoreError('STORE_UNAVAILABLE', 'no store'))
  const app = await ownApp({ store: { ...memory, read: fail, create: () => false } })
  const token = app.validToken()
  const body = JSON.stringify(value)
  const answers = [
    await app.request('PUT', path, { token, headers: { 'if-match': '*' }, body }),
    await app.request('DELETE', path, { token, headers: { 'if-match': '*' } }),
    await app.request('POST', '/items', { token, headers: { 'idempotency-key': 'a' }, body }),
  ]
  for (const answer of answers) {
    const message = assertRefused(answer, 503, 'STORE_UNAVAILABLE')
    assert.equal(message, 'no store; nothing has changed')
  }
})

test('§4.2 a list of unknown length is sent in chunks, and is complete', async () => {
  const list = async () => ({ ...(await memory.list()), byteLength: undefined })
  const app = await ownApp({ store: { ...memory, list } })
  const item = await create(app, { a: 1 })
  const answer = await app.call('GET', '/items')
  assert.equal(answer.headers['transfer-encoding'], 'chunked')
  assert.equal(answer.headers['content-length'], undefined)
  assert.deepEqual(record(answer.json()).data, [item])
  const head = await app.call('HEAD', '/items')
  assert.deepEqual([head.status, head.text], [200, ''])
  memory.clear()
})

test('§7 the connection ends when a list fails midway, so that half a list does not look complete', async () => {
  const list = async () => ({ ...(await memory.list()), byteLength: 30, chunks: brokenChunks() })
  const app = await ownApp({ store: { ...memory, list } })
  await assert.rejects(app.call('GET', '/items'))
  assert.match(JSON.stringify(app.log.at(-1)), /disk 7/)
  assert.equal((await app.request('GET', '/health')).status, 200)
})

ownTest('§7 failures are counted in the log, before the process ends', async () => {
  const own = await ownService({ MAX_STORE_BYTES: '1000' })
  const body = JSON.stringify({ data: { pad: 'x'.repeat(1000) } })
  const request = headOf(own, 'POST', '/items', `Content-Length: ${body.length}`) + body
  const answers = await exchange(own.baseUrl, request.repeat(100), 100)
  for (const { status } of answers) assert.equal(status, 507)
  assert.deepEqual(await own.stop(), [0, null])
  const lines = own.log.filter(({ error_code }) => error_code === 'STORE_FULL')
  const counts = lines.map(({ count }) => Number(count))
  assert.ok(counts[0] === 1 && counts.length < 100, String(counts))
  const total = counts.reduce((sum, count) => sum + count)
  assert.equal(total, 100)
})

function* brokenChunks(): Generator<Uint8Array> {
  yield Buffer.from('{"id":"x"')
  throw new Error(cause)
}

function failing(fail: () => Promise<never>): ItemStore {
  return { ...memory, create: fail, read: fail, replace: fail, delete: fail, list: fail }
}

function lineOf({ log }: OwnApp, { headers }: Answer): LogLine | undefined {
  return log.find(({ session_id }) => session_id === headers['x-session-id'])
}
