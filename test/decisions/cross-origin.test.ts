/** Tests what spec §1.4 and §1.5 leave open about session ids, CORS headers and preflights. */

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { create } from '../conformance/expect.js'
import { useService } from '../conformance/service.js'
import { assertHeaders } from './expect.js'

const service = await useService()
const { id } = await create(service, {})
const origin = 'https://app.example'

const methods = 'GET, HEAD, POST, PUT, DELETE, OPTIONS'
const headers = 'Authorization, Content-Type, If-Match, If-None-Match, Prefer, Idempotency-Key'
const [longest, tooLong] = ['x'.repeat(2_048), 'x'.repeat(2_049)] as const

/** Preflights, with the header names they ask for, and what the response must allow besides `methods` and `headers`. */
const requests: [request: string, asked?: string, moreMethods?: string, moreHeaders?: string][] = [
  ['POST /items/'],
  ['GET /health'],
  ['PATCH /nothing', 'traceparent', ', PATCH', ', traceparent'],
  ['QUERY /items', 'Traceparent,  X-Request-Id', ', QUERY', ', Traceparent, X-Request-Id'],
  ['post /items', 'authorization', ', post'], // only header names ignore case
  ['PUT /items/x?a=b', 'x-a,authorization, X-A,content-TYPE,x-b', '', ', x-a, x-b'],
  ['GET /items', longest, '', `, ${longest}`],
  ['GET /items', tooLong],
  ['GET /items', 'a b'],
  ['GET /items', 'a,,b'],
  ['A B<script> /items', 'a', '', ', a'],
]
for (const [request, asked, moreMethods = '', moreHeaders = ''] of requests) {
  test(`§1.5 a preflight gets a 204 that allows each valid requested name once: ${request}, ${asked?.slice(0, 50)}`, async () => {
    const [, method, path = ''] = /^(.*) (.*)$/.exec(request) ?? []
    const answer = await service.request('OPTIONS', path, {
      headers: {
        ...{ origin, authorization: 'Bearer x' },
        'access-control-request-method': method,
        'access-control-request-headers': asked,
      },
    })
    assert.deepEqual([answer.status, answer.text], [204, ''])
    assertHeaders(answer)
    assert.equal(answer.headers['access-control-allow-methods'], methods + moreMethods)
    assert.equal(answer.headers['access-control-allow-headers'], headers + moreHeaders)
    assert.ok(Number(answer.headers['access-control-max-age']) >= 600)
    const vary = 'Access-Control-Request-Method, Access-Control-Request-Headers'
    assert.equal(answer.headers.vary, vary)
  })
}

test('§1.4 §1.5 a response has an id of its own, and the same CORS headers with and without Origin', async () => {
  const [token, claimed] = [service.validToken(), randomUUID()]
  for (const headers of [{ origin }, { 'x-session-id': claimed }]) {
    for (const method of ['GET', 'HEAD', 'PUT', 'OPTIONS', 'PATCH']) {
      const answer = await service.request(method, `/items/${id}`, { token, headers })
      assertHeaders(answer)
      assert.notEqual(answer.headers['x-session-id'], claimed)
    }
  }
})
