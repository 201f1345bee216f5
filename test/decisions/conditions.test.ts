/** Tests entity tags and conditional requests (interface §4.9). */

import assert from 'node:assert/strict'
import { createHash, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import type { Answer } from '../conformance/client.js'
import { assertItemNotFound } from '../conformance/expect.js'
import { useService } from '../conformance/service.js'
import { assertHeaders, assertRefused, itemText, newItem } from './expect.js'

const service = await useService()
const token = service.validToken()

function send(
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body = '{"data":{"a":1}}',
): Promise<Answer> {
  const hasBody = method === 'POST' || method === 'PUT'
  return service.request(method, path, { token, headers, ...(hasBody ? { body } : {}) })
}

function tagOf({ headers }: Answer): string {
  assert.match(String(headers.etag), /^(W\/)?"[\x21\x23-\x7e]+"$/)
  return String(headers.etag)
}

function hashOf(answer: Answer): string {
  return `"${createHash('sha256').update(itemText(answer)).digest('base64url')}"`
}

const foreign = '"another"'

test('§4.9 create, read and replace send the same ETag for equal texts of an item, and another for other texts', async () => {
  const { path, tag } = await newItem(service)
  const read = await send('GET', path)
  assert.equal(tagOf(read), tag)
  assert.equal(tag, hashOf(read))
  assert.equal(tagOf(await send('HEAD', path)), tag)
  const replaced = tagOf(await send('PUT', path, {}, '{"data":{"a":1.0}}'))
  assert.notEqual(replaced, tag)
  assert.equal(tagOf(await send('GET', path)), replaced)
  assert.equal(tagOf(await send('PUT', path, {}, '{"data":{"a":1}}')), tag)
  const long = await send('PUT', path, {}, `{"data":{"text":"${'é'.repeat(1_500_000)}"}}`)
  assert.equal(tagOf(long), hashOf(long))
})

for (const method of ['GET', 'HEAD']) {
  test(`§4.9 ${method} with the current ETag in If-None-Match gets a 304 without a body`, async () => {
    const { path, tag } = await newItem(service)
    const listTag = tagOf(await send('GET', '/items'))
    for (const [read, known] of [[path, tag] as const, ['/items', listTag] as const]) {
      const bare = known.replace('W/', '')
      for (const value of [`W/${bare}`, `${foreign}, ${known}`, `,, ${known} ,`, ' * ']) {
        const answer = await send(method, read, { 'if-none-match': value })
        assert.equal(answer.status, 304, `${read}: ${value}`)
        assert.equal(answer.text, '')
        const { 'content-type': type, 'cache-control': caching } = answer.headers
        assert.deepEqual([type, caching], [undefined, 'no-store'])
        assert.equal(tagOf(answer), known)
        assertHeaders(answer)
      }
      const { status, headers } = await send(method, read, { 'if-none-match': foreign })
      assert.deepEqual([status, headers['cache-control']], [200, 'no-store'])
    }
  })
}

for (const method of ['PUT', 'DELETE']) {
  test(`§4.9 ${method} with If-Match succeeds only if the current ETag is listed`, async () => {
    const { path, tag } = await newItem(service)
    for (const value of [foreign, `W/${tag}`, `"x", ${foreign}`]) {
      const answer = await send(method, path, { 'if-match': value })
      assertRefused(answer, 412, 'PRECONDITION_FAILED')
      assert.equal(tagOf(answer), tag)
    }
    assert.equal(tagOf(await send('GET', path)), tag)
    const changed = await send(method, path, { 'if-match': `${foreign} , ${tag}` })
    assert.equal(changed.status, method === 'PUT' ? 200 : 204)
  })

  test(`§4.9 ${method} with If-Match: * succeeds for any item that exists, and is a 404 for others`, async () => {
    const { path } = await newItem(service)
    assert.ok((await send(method, path, { 'if-match': '*' })).status < 300)
    const id = randomUUID()
    for (const value of ['*', foreign]) {
      assertItemNotFound(await send(method, `/items/${id}`, { 'if-match': value }), id)
    }
  })

  test(`§4.9 ${method} with If-None-Match is a 412 if the current ETag is listed`, async () => {
    const { path, tag } = await newItem(service)
    for (const value of [tag, `W/${tag}`, '*', `${foreign},${tag}`]) {
      const answer = await send(method, path, { 'if-none-match': value })
      assertRefused(answer, 412, 'PRECONDITION_FAILED')
    }
    assert.equal(tagOf(await send('GET', path)), tag)
    assert.ok((await send(method, path, { 'if-none-match': foreign })).status < 300)
  })
}

test('§4.9 GET of an unknown id with If-None-Match: * is a 404', async () => {
  const id = randomUUID()
  assertItemNotFound(await send('GET', `/items/${id}`, { 'if-none-match': '*' }), id)
})

for (const value of ['abc', '"open', 'w/"a"', '"a" "b"', '', ',', '"a", *', '\xa0*']) {
  test(`§4.9 a malformed If-Match or If-None-Match is a 400, for reads and changes: ${value}`, async () => {
    const { path, tag } = await newItem(service)
    for (const method of ['GET', 'PUT', 'DELETE']) {
      for (const name of ['if-match', 'if-none-match']) {
        const text = assertRefused(await send(method, path, { [name]: value }), 400, 'BAD_REQUEST')
        assert.match(text.toLowerCase(), new RegExp(name))
      }
    }
    assert.equal(tagOf(await send('GET', path)), tag)
  })
}

test('§4.9 two If-Match header lines are one list of tags', async () => {
  const { path, tag } = await newItem(service)
  const lines = { 'if-match': [foreign, tag] as unknown as string }
  assert.equal((await send('PUT', path, lines, '{"data":{"b":2}}')).status, 200)
})

test('§4.9 GET of an item or the list with If-Match is a 412 unless the tag is the current ETag', async () => {
  const { path } = await newItem(service)
  for (const read of [path, '/items']) {
    const tag = tagOf(await send('GET', read))
    const isStrong = !tag.startsWith('W/')
    assert.equal((await send('GET', read, { 'if-match': tag })).status, isStrong ? 200 : 412)
    const refused = await send('GET', read, { 'if-match': foreign })
    const message = assertRefused(refused, 412, 'PRECONDITION_FAILED')
    assert.equal(message, 'If-Match or If-None-Match is not met; ETag has the current tag')
  }
})

test('§4.9 If-Match on a POST is ignored', async () => {
  assert.equal((await send('POST', '/items', { 'if-match': foreign })).status, 201)
})
