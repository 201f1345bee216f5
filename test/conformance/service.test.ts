/** Tests of the service as a whole (spec §1). */

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { Answer } from './client.js'
import { create, itemOf, listIn, sessionIdOf } from './expect.js'
import { useService } from './service.js'
import { test } from './test.js'

const service = await useService()
const origin = `https://${randomUUID()}.example`

const withBody = [
  { title: 'health', method: 'GET', path: '/health', status: 200 },
  { title: 'create', method: 'POST', path: '/items', body: '{"data":{}}', status: 201 },
  { title: 'read', method: 'GET', path: '/items/{id}', status: 200 },
  { title: 'replace', method: 'PUT', path: '/items/{id}', body: '{"data":{}}', status: 200 },
  { title: 'unknown item', method: 'GET', path: `/items/${randomUUID()}`, status: 404 },
  { title: 'invalid body', method: 'POST', path: '/items', body: '{}', status: 422 },
  { title: 'rejected token', method: 'GET', path: '/items', token: 'no.such.token', status: 401 },
]
const list = { title: 'list', method: 'GET', path: '/items', status: 200 }
type Row = (typeof withBody)[number] | typeof list

async function answerTo({ title: _, status, ...row }: Row, headers = {}): Promise<Answer> {
  const { method, path, token = service.validToken(), ...rest } = { token: undefined, ...row }
  const { id } = await create(service, {})
  const options = { token, ...rest, headers }
  const answer = await service.request(method, path.replace('{id}', id), options)
  assert.equal(answer.status, status, 'status')
  return answer
}

for (const row of withBody) {
  test(`§1.4 ${row.title}: the body has a session_id, a different one for each request`, async () => {
    const [first, second] = [await answerTo(row), await answerTo(row)].map(sessionIdOf)
    assert.notEqual(first, second, 'two requests have the same session_id')
  })
}

test('§1.4 list: the body has a session_id, unless it is only an array', async () => {
  const answer = await answerTo(list)
  if (!Array.isArray(answer.json())) sessionIdOf(answer)
})

test('§1.4 session ids are unique across concurrent requests', async () => {
  const answers = await Promise.all(
    Array.from({ length: 50 }, () => service.request('GET', '/health')),
  )
  const ids = new Set(answers.map(sessionIdOf))
  assert.equal(ids.size, answers.length, 'the number of different session ids')
})

for (const row of [...withBody, list]) {
  test(`§1.5 ${row.title}: a page of another origin may read the response`, async () => {
    assertAllowed(await answerTo(row, { origin }))
  })
}

const allowHeaders = 'Access-Control-Allow-Headers'
const preflights = [
  { method: 'GET', path: '/items' },
  { method: 'POST', path: '/items' },
  { method: 'PUT', path: `/items/${randomUUID()}` },
  { method: 'DELETE', path: `/items/${randomUUID()}` },
]
for (const { method, path } of preflights) {
  test(`§1.5 a browser may send ${method} from another origin, with token and JSON`, async () => {
    const answer = await service.request('OPTIONS', path, {
      headers: {
        origin,
        'access-control-request-method': method,
        'access-control-request-headers': 'authorization,content-type',
      },
    })
    const { status, headers } = answer
    assert.ok(status >= 200 && status < 300, `the status of a preflight is ${status}, expected 2xx`)
    assertAllowed(answer)
    // In CORS, `*` means any method, and any header except Authorization.
    const methods = listIn(headers['access-control-allow-methods'])
    const isAllowed = ['*', method.toLowerCase()].some((name) => methods.includes(name))
    assert.ok(isAllowed || method === 'GET', `Access-Control-Allow-Methods lacks ${method}`)
    const names = listIn(headers['access-control-allow-headers'])
    assert.ok(names.includes('authorization'), `${allowHeaders} lacks Authorization`)
    const isTyped = names.includes('content-type') || names.includes('*')
    assert.ok(isTyped, `${allowHeaders} lacks Content-Type`)
  })
}

test('§1.6 request bodies are JSON, with any space around the tokens', async () => {
  const body = '\r\n\t { "data" :\n{ "name" : "spaced" } , "project_id":"p"\t} \n'
  const answer = await service.request('POST', '/items', { token: service.validToken(), body })
  const item = itemOf(answer, 201)
  assert.deepEqual([item.name, item.project_id], ['spaced', 'p'], 'name and project_id')
})

test('§1.6 the Content-Type of a request may name the charset', async () => {
  for (const type of ['application/json; charset=utf-8', 'application/json;charset=UTF-8']) {
    const options = { body: '{"data":{"name":"é"}}', headers: { 'content-type': type } }
    const token = service.validToken()
    const item = itemOf(await service.request('POST', '/items', { token, ...options }), 201)
    assert.equal(item.name, 'é', 'a member of the item')
  }
})

for (const row of [...withBody, list]) {
  test(`§1.6 ${row.title}: the body is a JSON text, and its Content-Type says so`, async () => {
    const answer = await answerTo(row)
    answer.json()
    const type = answer.headers['content-type'] ?? ''
    const json = /^application\/(.+\+)?json *(;|$)/i
    assert.match(type, json, `Content-Type of a ${answer.status}`)
  })
}

function assertAllowed({ status, headers }: Answer): void {
  const allowOrigin = headers['access-control-allow-origin']
  const name = `Access-Control-Allow-Origin in a ${status}`
  if (allowOrigin !== origin) assert.equal(allowOrigin, '*', name)
}
