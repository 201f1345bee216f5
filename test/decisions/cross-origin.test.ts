/** Decisions on §1.4 and §1.5: what browsers need, and the session id on every answer. */

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import type { Answer } from '../conformance/client.js'
import { create } from '../conformance/expect.js'
import { useService } from '../conformance/service.js'
import { assertHeaders, assertRefused, shown } from './expect.js'

const service = await useService()
const { id } = await create(service, {})
const origins = ['https://app.example', 'http://localhost:5173', 'null']

const preflights = [
  { method: 'GET', path: '/health' },
  { method: 'GET', path: '/items' },
  { method: 'POST', path: '/items' },
  { method: 'POST', path: '/items/' },
  { method: 'GET', path: '/items?a=b' },
  { method: 'GET', path: `/items/${id}` },
  { method: 'PUT', path: `/items/${id}` },
  { method: 'DELETE', path: `/items/${id}` },
  { method: 'DELETE', path: `/items/${randomUUID()}` },
  { method: 'PUT', path: '/items/not-a-uuid' },
  { method: 'PATCH', path: '/items' },
  { method: 'GET', path: '/nothing' },
]
for (const { method, path } of preflights) {
  test(`§1.5 a preflight for ${method} ${shown(path)}: 204, cached`, async () => {
    for (const origin of origins) {
      const answer = await service.request('OPTIONS', path, {
        headers: { origin, 'access-control-request-method': method },
      })
      assert.deepEqual([answer.status, answer.text], [204, ''])
      assertHeaders(answer)
      const { headers } = answer
      const methods = listOf(headers['access-control-allow-methods'])
      for (const allowed of ['get', 'head', 'post', 'put', 'delete']) {
        assert.ok(methods.includes(allowed), allowed)
      }
      const names = listOf(headers['access-control-allow-headers'])
      assert.ok(names.includes('authorization') && names.includes('content-type'))
      assert.ok(Number(headers['access-control-max-age']) >= 600)
      assert.equal(headers['www-authenticate'], undefined)
    }
  })
}

for (const method of ['PATCH', 'QUERY', 'patch']) {
  test(`§1.5 a preflight lets ${method} through, so that the page sees the response`, async () => {
    const { status, headers } = await service.request('OPTIONS', '/items', {
      headers: { origin: 'https://app.example', 'access-control-request-method': method },
    })
    assert.equal(status, 204)
    const allowed = String(headers['access-control-allow-methods']).split(/, */)
    assert.ok(allowed.includes(method) && allowed.includes('PUT'), allowed.join())
    assert.ok(listOf(headers.vary).includes('access-control-request-method'))
  })
}

test('§1.5 a preflight that asks for no method is answered without it', async () => {
  const { status, headers } = await service.request('OPTIONS', '/items', {
    headers: { origin: 'https://app.example', 'access-control-request-method': 'A B<script>' },
  })
  assert.equal(status, 204)
  assert.doesNotMatch(String(headers['access-control-allow-methods']), /script/)
})

const askedHeaders = [
  'traceparent',
  'authorization,content-type,x-client-version',
  'Traceparent, tracestate,  X-Request-Id',
  'authorization',
]
for (const asked of askedHeaders) {
  test(`§1.5 a preflight that asks for ${asked} gets them allowed`, async () => {
    const { status, headers } = await preflightAskingFor(asked)
    assert.equal(status, 204)
    const allowed = listOf(headers['access-control-allow-headers'])
    for (const name of [...listOf(asked), 'authorization', 'content-type']) {
      assert.ok(allowed.includes(name), name)
    }
    assert.ok(listOf(headers.vary).includes('access-control-request-headers'))
  })
}

const noNames = ['a b', 'x: y', '"x"', 'a,,b', 'x'.repeat(9_000), '<script>']
for (const asked of noNames) {
  test(`§1.5 a preflight that asks for "${asked.slice(0, 10)}" is answered without it`, async () => {
    const { status, headers } = await preflightAskingFor(asked)
    assert.equal(status, 204)
    const allowed = listOf(headers['access-control-allow-headers'])
    assert.ok(allowed.includes('authorization') && allowed.includes('content-type'))
    assert.ok(!allowed.join().includes(asked.toLowerCase()))
  })
}

test('§1.5 a preflight with a wrong token is answered like any other', async () => {
  for (const token of ['not-a-jwt', service.mint({ sub: 'a', exp: 1 })]) {
    const answer = await service.request('OPTIONS', '/items', {
      token,
      headers: { origin: 'https://app.example', 'access-control-request-method': 'GET' },
    })
    assert.equal(answer.status, 204)
  }
})

const token = service.validToken()
const answers: {
  title: string
  method: string
  path: string
  token?: string
  body?: string
  status: number
  code?: string
}[] = [
  { title: 'health', method: 'GET', path: '/health', status: 200 },
  { title: 'list', method: 'GET', path: '/items', token, status: 200 },
  { title: 'create', method: 'POST', path: '/items', token, body: '{"data":{}}', status: 201 },
  { title: 'read', method: 'GET', path: `/items/${id}`, token, status: 200 },
  {
    title: 'replace',
    method: 'PUT',
    path: `/items/${id}`,
    token,
    body: '{"data":{}}',
    status: 200,
  },
  { title: 'HEAD', method: 'HEAD', path: `/items/${id}`, token, status: 200 },
  { title: 'OPTIONS that is not a preflight', method: 'OPTIONS', path: '/items', status: 204 },
  { title: 'no token', method: 'GET', path: '/items', status: 401, code: 'MISSING_TOKEN' },
  {
    title: 'wrong token',
    method: 'GET',
    path: '/items',
    token: 'x',
    status: 401,
    code: 'INVALID_TOKEN',
  },
  {
    title: 'expired token',
    method: 'GET',
    path: '/items',
    token: service.mint({ sub: 'a', exp: 1 }),
    status: 401,
    code: 'TOKEN_EXPIRED',
  },
  { title: 'bad URL', method: 'GET', path: '/items/%', status: 400, code: 'BAD_REQUEST' },
  { title: 'no endpoint', method: 'GET', path: '/nothing', status: 404, code: 'ROUTE_NOT_FOUND' },
  { title: 'no item', method: 'GET', path: '/items/x', token, status: 404 },
  {
    title: 'no such method',
    method: 'PATCH',
    path: '/items',
    status: 405,
    code: 'METHOD_NOT_ALLOWED',
  },
  {
    title: 'invalid body',
    method: 'POST',
    path: '/items',
    token,
    body: '{}',
    status: 422,
    code: 'VALIDATION_ERROR',
  },
  { title: 'delete', method: 'DELETE', path: `/items/${id}`, token, status: 204 },
]
for (const { title, method, path, status, code, ...options } of answers) {
  test(`§1.4 §1.5 ${title}: X-Session-Id and CORS headers, with and without Origin`, async () => {
    const claimed = randomUUID()
    for (const headers of [{ origin: 'https://app.example' }, { 'x-session-id': claimed }, {}]) {
      if (status === 204 && method === 'DELETE' && 'origin' in headers === false) continue
      const answer = await service.request(method, path, { ...options, headers })
      assert.equal(answer.status, status, answer.text)
      if (status >= 400) assertRefused(answer, status, code)
      else assertHeaders(answer)
      // Never taken from the client.
      assert.notEqual(answer.headers['x-session-id'], claimed)
    }
  })
}

test('§1.6 bodies are sent as application/json', async () => {
  for (const path of ['/health', '/items', '/items/x']) {
    const { headers } = await service.call('GET', path)
    assert.match(String(headers['content-type']), /^application\/json\b/)
  }
})

function listOf(header: string | undefined): string[] {
  return (header ?? '').split(',').map((name) => name.trim().toLowerCase())
}

function preflightAskingFor(names: string): Promise<Answer> {
  return service.request('OPTIONS', '/items', {
    headers: {
      origin: 'https://app.example',
      'access-control-request-method': 'POST',
      'access-control-request-headers': names,
    },
  })
}
