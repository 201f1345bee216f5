/** Tests what spec §4 leaves open about paths, methods, and which error is reported first. */

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { METHODS } from 'node:http'
import { test } from 'node:test'
import { create, itemOf, stored } from '../conformance/expect.js'
import { useService } from '../conformance/service.js'
import { exchange, exchangeOne, headOf } from '../support/socket.js'
import { assertHeaders, assertRefused, lasting, shown, statusesOf } from './expect.js'

const service = await useService()
const item = await create(service, { kept: 1 }, 'kept')
const prefix = service.baseUrl.pathname
const paths = [
  { path: '/health', methods: ['GET', 'HEAD', 'OPTIONS'] },
  { path: '/items', methods: ['GET', 'HEAD', 'POST', 'OPTIONS'] },
  { path: `/items/${item.id}`, methods: ['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS'] },
  { path: '/items/unknown', methods: ['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS'] },
]

for (const { path, methods } of paths) {
  // CONNECT is left out, because its target is not a path.
  const others = METHODS.filter((method) => !methods.includes(method) && method !== 'CONNECT')

  test(`§4 ${shown(path)}: methods that it lacks get 405 METHOD_NOT_ALLOWED with Allow`, async () => {
    for (const method of others) {
      for (const options of [{}, { token: service.validToken() }]) {
        const answer = await service.request(method, path, options)
        assertRefused(answer, 405, 'METHOD_NOT_ALLOWED')
        assert.equal(answer.headers.allow, methods.join(', '))
      }
    }
    for (const method of methods) {
      const answer = await service.request(method, path)
      assert.notEqual(answer.status, 405, method)
      assertHeaders(answer)
    }
    assert.deepEqual(await stored(service, item.id), item)
  })
}

const unknownPaths = ['', '/nothing', '/item', '/items/a/b', '/health/a', '/Items', '/items//']
for (const path of unknownPaths) {
  test(`§4 no endpoint has the path "${path}": 404 ROUTE_NOT_FOUND, whatever the method`, async () => {
    for (const method of ['GET', 'HEAD', 'POST', 'PROPFIND', 'OPTIONS']) {
      const answer = await service.request(method, path)
      if (method === 'HEAD') assert.equal(answer.status, 404)
      else assertRefused(answer, 404, 'ROUTE_NOT_FOUND')
    }
  })
}

for (const target of ['/items', '/api/v2/items', '/api/v1x/items']) {
  test(`§9 no endpoint is outside the prefix /api/v1: ${target}`, async () => {
    const answer = await service.requestTarget('GET', target)
    const text = assertRefused(answer, 404, 'ROUTE_NOT_FOUND')
    assert.equal(text, `GET ${target} is not an endpoint; all endpoints are under /api/v1`)
  })
}

const codes = new Map([
  [400, 'BAD_REQUEST'],
  [401, 'MISSING_TOKEN'],
  [404, 'ROUTE_NOT_FOUND'],
  [405, 'METHOD_NOT_ALLOWED'],
  [413, 'PAYLOAD_TOO_LARGE'],
  [422, 'VALIDATION_ERROR'],
])
const unknown = `/items/${randomUUID()}`
const valid = { authorization: `Bearer ${service.validToken()}` }
const text = { 'content-type': 'text/plain' }
const badCondition = { 'if-match': 'x' }
const failingCondition = { 'if-match': '"x"' }
const badQuery = '/items?project_id='
const badKey = { 'idempotency-key': 'a b' }
const large = { 'content-length': String(17 * 1024 * 1024) }
/** Requests with several errors, one of which is a malformed body. */
const order: [title: string, request: string, status: number, headers?: object][] = [
  ['404 before 401', 'POST /nothing', 404],
  ['405 before 401', 'PATCH /items', 405],
  ['401 before 422', 'POST /items', 401, text],
  ['401 before 413', 'POST /items', 401, large],
  ['401 before 404 of the item', `PUT ${unknown}`, 401],
  ['401 before 400', `PUT ${unknown}`, 401, badCondition],
  ['401 before 412', `DELETE /items/${item.id}`, 401, failingCondition],
  ['401 before 422', `GET ${badQuery}`, 401],
  ['400 before 413', `PUT ${unknown}`, 400, { ...large, ...badCondition, ...valid }],
  ['400 before 413', 'POST /items', 400, { ...large, ...badKey, ...valid }],
  ['400 before 422', `GET ${badQuery}`, 400, { ...badCondition, ...valid }],
  ['400 before 404 of a bad id', 'GET /items/x', 400, { ...badCondition, ...valid }],
  ['413 before 404', `PUT ${unknown}`, 413, { ...large, ...valid }],
  ['422 before 404', `PUT ${unknown}`, 422, valid],
  ['422 before 404 of a bad id', 'PUT /items/x', 422, valid],
  ['422 before 412', `PUT /items/${item.id}`, 422, { ...failingCondition, ...valid }],
]
for (const [title, request, status, headers] of order) {
  test(`§4 order of checks: ${title}, ${shown(request)}`, async () => {
    const lines = Object.entries({ 'content-length': '1', ...headers })
    const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')
    // Sent as plain bytes, because Node's HTTP client would send the whole body that `Content-Length` declares.
    const bytes = `${request.replace(' ', ` ${prefix}`)} HTTP/1.1\r\nHost: a\r\n${head}\r\n{`
    assertRefused(await exchangeOne(service.baseUrl, bytes), status, codes.get(status))
  })
}

for (const suffix of ['/', '?', '/?page=2', '?a=%zz', '?__proto__=1&a[]=2', '?a?b/c']) {
  test(`§4 each endpoint is also served at its path followed by ${suffix}`, async () => {
    const { id } = await create(service, { a: 1 })
    const created = { data: { a: 2 } }
    assert.equal((await service.call('GET', `/health${suffix}`)).status, 200)
    const list = await service.call('GET', `/items${suffix}`)
    assert.ok(list.text.includes(id) && list.text.includes(item.id))
    assert.equal(itemOf(await service.call('POST', `/items${suffix}`, created), 201).a, 2)
    assert.equal(itemOf(await service.call('GET', `/items/${id}${suffix}`), 200).a, 1)
    assert.equal(itemOf(await service.call('PUT', `/items/${id}${suffix}`, created), 200).a, 2)
    assert.equal((await service.call('DELETE', `/items/${id}${suffix}`)).status, 204)
  })
}

test('§4 HEAD gets the response to GET without the body', async () => {
  for (const path of ['/health', '/items', `/items/${item.id}`, unknown, '/items/x']) {
    const [get, head] = [await service.call('GET', path), await service.call('HEAD', path)]
    assert.equal(head.text, '')
    assert.deepEqual(lasting(head), lasting(get), path)
    assert.equal(head.status, get.status)
    assertHeaders(head)
  }
  assert.equal((await service.request('HEAD', '/items')).status, 401)
})

test('§4 the connection stays open after a GET with a body', async () => {
  const get = headOf(service, 'GET', '/items', 'Content-Type: text/plain', 'Content-Length: 5')
  const bytes = `${get}hello${headOf(service, 'GET', '/items/x')}`
  assert.deepEqual(statusesOf(await exchange(service.baseUrl, bytes, 2)), [200, 404])
})
