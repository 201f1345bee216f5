/** Tests of this service's decisions on §1.4 and §1.5: preflights, CORS headers and session ids. */

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import type { Answer, RequestOptions } from '../conformance/client.js'
import { create, listIn } from '../conformance/expect.js'
import { useService } from '../conformance/service.js'
import { assertHeaders, shown } from './expect.js'

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
  test(`§1.5 a preflight for ${method} ${shown(path)} gets a 204 that browsers may cache`, async () => {
    for (const origin of origins) {
      const answer = await service.request('OPTIONS', path, {
        headers: { origin, 'access-control-request-method': method, authorization: 'Bearer x' },
      })
      assert.deepEqual([answer.status, answer.text], [204, ''])
      assertHeaders(answer)
      const { headers } = answer
      const methods = listIn(headers['access-control-allow-methods'])
      for (const allowed of ['get', 'head', 'post', 'put', 'delete']) {
        assert.ok(methods.includes(allowed), allowed)
      }
      const names = listIn(headers['access-control-allow-headers'])
      assert.ok(names.includes('authorization') && names.includes('content-type'))
      assert.ok(Number(headers['access-control-max-age']) >= 600)
      assert.equal(headers['www-authenticate'], undefined)
    }
  })
}

for (const method of ['PATCH', 'QUERY', 'patch']) {
  test(`§1.5 a preflight allows ${method}, so that a web page can read the response`, async () => {
    const { status, headers } = await preflight(method)
    assert.equal(status, 204)
    const allowed = String(headers['access-control-allow-methods']).split(/, */)
    assert.ok(allowed.includes(method) && allowed.includes('PUT'), allowed.join())
    assert.ok(listIn(headers.vary).includes('access-control-request-method'))
  })
}

test('§1.5 a preflight with a malformed method gets a 204 that does not repeat the method', async () => {
  const { status, headers } = await preflight('A B<script>')
  assert.equal(status, 204)
  assert.doesNotMatch(String(headers['access-control-allow-methods']), /script/)
})

const askedHeaders = [
  'traceparent',
  'authorization,content-type,x-client-version',
  'Traceparent, tracestate,  X-Request-Id',
  'authorization',
  'x'.repeat(2_048),
]
for (const asked of askedHeaders) {
  test(`§1.5 a preflight allows the requested headers: ${asked.slice(0, 50)}`, async () => {
    const { status, headers } = await preflight('POST', '/items', asked)
    assert.equal(status, 204)
    const allowed = listIn(headers['access-control-allow-headers'])
    for (const name of [...listIn(asked), 'authorization', 'content-type']) {
      assert.ok(allowed.includes(name), name)
    }
    assert.ok(listIn(headers.vary).includes('access-control-request-headers'))
  })
}

test('§1.5 the response to a preflight names each method and header once', async () => {
  const asked = 'x-a,authorization, X-A,content-TYPE,x-b'
  for (const method of ['POST', 'PATCH', 'post']) {
    const { headers } = await preflight(method, '/items', asked)
    const methods = String(headers['access-control-allow-methods']).split(', ')
    const fixed = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS']
    assert.deepEqual(methods, method === 'POST' ? fixed : [...fixed, method])
    const names = listIn(headers['access-control-allow-headers'])
    assert.deepEqual(names, [...new Set(names)])
    assert.deepEqual(names.slice(-2), ['x-a', 'x-b'])
  }
})

const noNames = ['a b', 'x: y', '"x"', 'a,,b', 'x'.repeat(2_049), '<script>']
for (const asked of noNames) {
  test(`§1.5 a preflight ignores a malformed or too long list of headers: "${asked.slice(0, 10)}"`, async () => {
    const { status, headers } = await preflight('POST', '/items', asked)
    assert.equal(status, 204)
    const allowed = listIn(headers['access-control-allow-headers'])
    assert.ok(allowed.includes('authorization') && allowed.includes('content-type'))
    assert.ok(!allowed.join().includes(asked.toLowerCase()))
  })
}

const token = service.validToken()
const body = '{"data":{}}'
const answers: [request: string, status: number, options?: RequestOptions][] = [
  ['GET /health', 200],
  ['GET /items', 200, { token }],
  ['POST /items', 201, { token, body }],
  [`GET /items/${id}`, 200, { token }],
  [`PUT /items/${id}`, 200, { token, body }],
  [`HEAD /items/${id}`, 200, { token }],
  ['OPTIONS /items', 204],
  ['GET /items', 401],
  ['POST /items', 422, { token, body: '{}' }],
]
for (const [request, status, options] of answers) {
  const [method = '', path = ''] = request.split(' ')
  test(`§1.4 §1.5 ${shown(request)}, ${status}: X-Session-Id and CORS headers, with and without Origin`, async () => {
    const claimed = randomUUID()
    for (const headers of [{ origin: 'https://app.example' }, { 'x-session-id': claimed }, {}]) {
      const answer = await service.request(method, path, { ...options, headers })
      assert.equal(answer.status, status, answer.text)
      assertHeaders(answer)
      assert.notEqual(answer.headers['x-session-id'], claimed) // not the id that the client sent
    }
  })
}

function preflight(method: string, path = '/items', headers?: string): Promise<Answer> {
  return service.request('OPTIONS', path, {
    headers: {
      origin: 'https://app.example',
      'access-control-request-method': method,
      'access-control-request-headers': headers,
    },
  })
}
