/** Tests what spec §1.4 and §1.5 leave open about session ids, CORS headers and preflights. */

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import type { RequestOptions } from '../conformance/client.js'
import { create } from '../conformance/expect.js'
import { useService } from '../conformance/service.js'
import { assertHeaders, shown } from './expect.js'

const service = await useService()
const { id } = await create(service, {})
const origin = 'https://app.example'

const methods = 'GET, HEAD, POST, PUT, DELETE, OPTIONS'
const headers = 'Authorization, Content-Type, If-Match, If-None-Match, Prefer, Idempotency-Key'
const [longest, tooLong] = ['x'.repeat(2_048), 'x'.repeat(2_049)] as const

/** Preflights, and the names that the response must allow besides `methods` and `headers`. */
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

const token = service.validToken()
const body = '{"data":{}}'
const answers: [request: string, status: number, options?: RequestOptions][] = [
  ['GET /health', 200],
  ['POST /items', 201, { token, body }],
  [`HEAD /items/${id}`, 200, { token }],
  ['OPTIONS /items', 204],
  ['GET /items', 401],
]
for (const [request, status, options] of answers) {
  const [method = '', path = ''] = request.split(' ')
  test(`§1.4 §1.5 ${shown(request)}, ${status}: X-Session-Id and CORS headers, with and without Origin`, async () => {
    const claimed = randomUUID()
    for (const headers of [{ origin }, { 'x-session-id': claimed }]) {
      const answer = await service.request(method, path, { ...options, headers })
      assert.equal(answer.status, status, answer.text)
      assertHeaders(answer)
      assert.notEqual(answer.headers['x-session-id'], claimed)
    }
  })
}
