/** Specification §1: what the service does. */

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { ownService, ownTest } from '../support/own-service.js'
import { create, itemOf, itemsOf, listed, record, sessionIdOf, stored } from './expect.js'
import { useService } from './service.js'

const service = await useService()
const { id } = await create(service, { name: 'a' })
const origin = 'https://app.example'

test('§1.1 items are created, listed, read, fully replaced and deleted over HTTP', async () => {
  const item = itemOf(await service.call('POST', '/items', { data: { step: 1 } }), 201)
  const path = `/items/${item.id}`
  assert.ok(itemsOf(await service.call('GET', '/items')).some((other) => other.id === item.id))
  assert.equal(itemOf(await service.call('GET', path), 200).step, 1)
  const replaced = itemOf(await service.call('PUT', path, { data: { next: 2 } }), 200)
  assert.deepEqual([replaced.next, replaced.step], [2, undefined])
  assert.equal((await service.call('DELETE', path)).status, 204)
  assert.equal((await service.call('GET', path)).status, 404)
})

ownTest('§1.2 nothing persists across a restart', async () => {
  const env = { JWT_SECRET: randomUUID() }
  const first = await ownService(env)
  const item = await create(first, { name: 'gone' })
  await first.stop()
  const second = await ownService(env)
  assert.deepEqual(await listed(second), [])
  assert.equal(await stored(second, item.id), undefined)
})

test('§1.3 GET /health is public', async () => {
  assert.equal((await service.request('GET', '/health')).status, 200)
})

const itemEndpoints = [
  { method: 'GET', path: '/items' },
  { method: 'POST', path: '/items', body: '{"data":{}}' },
  { method: 'GET', path: `/items/${id}` },
  { method: 'PUT', path: `/items/${id}`, body: '{"data":{}}' },
  { method: 'DELETE', path: `/items/${id}` },
]
const withBody = [
  { title: 'health', method: 'GET', path: '/health', status: 200 },
  { title: 'create', method: 'POST', path: '/items', body: '{"data":{}}', status: 201 },
  { title: 'read', method: 'GET', path: `/items/${id}`, status: 200 },
  { title: 'replace', method: 'PUT', path: `/items/${id}`, body: '{"data":{}}', status: 200 },
  { title: 'unknown item', method: 'GET', path: `/items/${randomUUID()}`, status: 404 },
  { title: 'invalid body', method: 'POST', path: '/items', body: '{}', status: 422 },
  { title: 'refused token', method: 'GET', path: '/items', token: 'no.such.token', status: 401 },
]
for (const { title, method, path, status, token, ...options } of withBody) {
  test(`§1.4 ${title}: the body has a session_id, a different one for each request`, async () => {
    const send = () =>
      service.request(method, path, { token: token ?? service.validToken(), ...options })
    const answers = [await send(), await send()]
    assert.deepEqual(
      answers.map((answer) => answer.status),
      [status, status],
    )
    const [first, second] = answers.map(sessionIdOf)
    assert.notEqual(first, second)
  })
}

test('§1.4 session ids are unique across concurrent requests', async () => {
  const answers = await Promise.all(
    Array.from({ length: 50 }, () => service.request('GET', '/health')),
  )
  assert.equal(new Set(answers.map(sessionIdOf)).size, answers.length)
})

for (const path of ['/health', '/items']) {
  test(`§1.5 GET ${path} is accepted from another origin`, async () => {
    const answer = await service.request('GET', path, {
      token: service.validToken(),
      headers: { origin },
    })
    assert.equal(answer.status, 200)
    assertAllowed(answer.headers['access-control-allow-origin'])
  })
}

const preflights = [
  { method: 'GET', path: '/items' },
  { method: 'POST', path: '/items' },
  { method: 'PUT', path: `/items/${id}` },
  { method: 'DELETE', path: `/items/${id}` },
]
for (const { method, path } of preflights) {
  test(`§1.5 a browser may send ${method} from another origin, with token and JSON`, async () => {
    const { status, headers } = await service.request('OPTIONS', path, {
      headers: {
        origin,
        'access-control-request-method': method,
        'access-control-request-headers': 'authorization,content-type',
      },
    })
    assert.ok(status >= 200 && status < 300, `the preflight is answered ${status}`)
    assertAllowed(headers['access-control-allow-origin'])
    // A browser takes * for any method, and for any header but this one.
    const methods = listOf(headers['access-control-allow-methods'])
    assert.ok(methods.includes(method.toLowerCase()) || methods.includes('*') || method === 'GET')
    const names = listOf(headers['access-control-allow-headers'])
    assert.ok(names.includes('authorization'))
    assert.ok(names.includes('content-type') || names.includes('*'))
  })
}

test('§1.6 bodies are JSON, with any space around its tokens', async () => {
  const body = '\r\n\t { "data" :\n{ "name" : "spaced" } , "project_id":"p"\t} \n'
  const answer = await service.request('POST', '/items', { token: service.validToken(), body })
  const item = itemOf(answer, 201)
  assert.deepEqual([item.name, item.project_id], ['spaced', 'p'])
})

test('§1.6 every response body is a JSON text', async () => {
  for (const { method, path, ...options } of [...withBody, ...itemEndpoints]) {
    const answer = await service.request(method, path, options)
    if (answer.status !== 204) record(answer.json())
  }
})

function assertAllowed(allowOrigin: string | undefined): void {
  assert.ok(allowOrigin === '*' || allowOrigin === origin, `allowed is ${allowOrigin}`)
}

function listOf(header: string | undefined): string[] {
  return (header ?? '').split(',').map((name) => name.trim().toLowerCase())
}
