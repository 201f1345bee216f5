/** Tests what spec §2.1 and §4 leave open about JSON text, content types, and bodies that are not item requests. */

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { create, itemOf, stored } from '../conformance/expect.js'
import { useService } from '../conformance/service.js'
import { accepted } from '../corpora/json-values.js'
import { exchangeOne, firstText, headOf, openSocket } from '../support/socket.js'
import { assertRefused, createText, itemText, sendText } from './expect.js'

const service = await useService()
const mark = randomUUID()
const item = await create(service, { kept: 1 }, 'kept')

const deep = {
  '100,000 nested arrays': `${'['.repeat(100_000)}1${']'.repeat(100_000)}`,
  '100,000 nested objects': `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`,
}
for (const [title, value] of Object.entries({ ...accepted, ...deep })) {
  test(`§2.1 a value comes back byte for byte: ${title}`, async () => {
    const body = `{"data":{"value":${value}}}`
    const created = await sendText(service, 'POST', '/items', body)
    const { id } = itemOf(created, 201)
    const expected = `{"id":"${id}","project_id":null,"value":${value}}`
    assert.equal(itemText(created), expected)
    assert.equal(itemText(await sendText(service, 'PUT', `/items/${id}`, body)), expected)
    assert.equal(itemText(await service.call('GET', `/items/${id}`)), expected)
    assert.ok((await service.call('GET', '/items')).text.includes(expected))
  })
}

type Malformed = [title: string, body: string | Buffer, says: RegExp]

const malformed: Malformed[] = [
  ['an empty body', '', /empty/],
  ['only white space', ' \n\t', /line 2, column 2\b.*ends/],
  ['an array', `[{"data":{}}]`, /body.*object/],
  ['a form instead of JSON', 'data=1', /line 1, column 1\b/],
  ['a trailing comma', `{"data":{"a":"${mark}",}}`, /line 1, column 53\b/],
  ['a body that is cut off', `{"data":{"a":1`, /line 1, column 15\b.*ends/],
  ['a byte order mark', '\ufeff{"data":{}}', /line 1, column 1\b/],
  ['an error after characters beyond ASCII', '{\n  "data": {"é🦄": tru}\n}', /line 2, column 18\b/],
  ['UTF-16', Buffer.from('{"data":{}}', 'utf16le'), /line 1, column 2\b/],
  ['not UTF-8', Buffer.from(`{"data":{"a":"${mark}\xe9"}}`, 'latin1'), /UTF-8/],
  [
    'the members are not in data',
    `{"title":"${mark}"}`,
    /data is missing; put the item's members in it$/,
  ],
  ['the last of two data is invalid', `{"data":{"a":"${mark}"},"data":1}`, /data.*object/],
  ['data is only in __proto__', '{"__proto__":{"data":{}}}', /data/],
  ['project_id is empty', `{"data":{"a":"${mark}"},"project_id":""}`, /project_id/],
]
for (const [title, body, says] of malformed) {
  test(`§4 a body is rejected with 422 VALIDATION_ERROR and the reason: ${title}`, async () => {
    await assertInvalid(says, { body })
  })
}

const rejectedTypes = [
  ...['text/plain', 'text/plain;application/json', 'multipart/form-data; boundary=json', '*/*'],
  ...['application/json garbage', 'application/jsonp', 'application/json, text/plain'],
  ...['xapplication/json', 'application/json; a="b', 'application/json; a="\\\\", text/plain'],
]
for (const type of rejectedTypes) {
  test(`§4 Content-Type: ${type}: 422 VALIDATION_ERROR`, async () => {
    const body = JSON.stringify({ data: {}, project_id: mark })
    await assertInvalid(/content-type/i, { body, headers: { 'content-type': type } })
  })
}

const acceptedTypes = [
  ...['application/json;charset=UTF-8', 'application/json ; profile="a b"', 'Application/JSON'],
  ...['application/vnd.api+json', 'application/json; a="b, \\"c"', undefined],
]
for (const type of acceptedTypes) {
  test(`§4 ${type ? `Content-Type: ${type}` : 'no Content-Type at all'}: read as JSON`, async () => {
    const options = {
      token: service.validToken(),
      body: '{"data":{"a":1}}',
      headers: { 'content-type': type },
    }
    const { id, a } = itemOf(await service.request('POST', '/items', options), 201)
    assert.equal(a, 1)
    assert.equal(itemOf(await service.request('PUT', `/items/${id}`, options), 200).a, 1)
  })
}

const compressed = gzipSync(JSON.stringify({ data: {}, project_id: mark }))
for (const encoding of ['gzip', 'identity, gzip', 'x']) {
  test(`§4 Content-Encoding: ${encoding}: 422 VALIDATION_ERROR that names the coding`, async () => {
    const says = /^The Content-Encoding is ".+"; compressed bodies are not supported/
    const headers = { 'content-encoding': encoding }
    const large = Buffer.alloc(16 * 1024 * 1024 + 1)
    for (const body of [compressed, large]) await assertInvalid(says, { body, headers })
    const both = { 'content-type': 'text/plain', 'content-encoding': encoding }
    await assertInvalid(/^The Content-Type/, { body: compressed, headers: both })
  })
}

for (const encoding of ['', ' identity , Identity']) {
  test(`§4 Content-Encoding: "${encoding}" is accepted, and gzip is ignored on a GET`, async () => {
    const headers = { 'content-encoding': encoding }
    const options = { token: service.validToken(), body: '{"data":{"a":1}}', headers }
    const { id } = itemOf(await service.request('POST', '/items', options), 201)
    const coded = { ...options, headers: { 'content-encoding': 'gzip' } }
    assert.equal((await service.request('GET', `/items/${id}`, coded)).status, 200)
  })
}

test('§4 a body in several chunks that arrive together is read to its end', async () => {
  const head = headOf(service, 'POST', '/items', 'Transfer-Encoding: chunked')
  const chunks = '7\r\n{"data"\r\n1\r\n:\r\n8\r\n{"a":1}}\r\n0\r\n\r\n'
  assert.equal(itemOf(await exchangeOne(service.baseUrl, head + chunks), 201).a, 1)
})

for (const method of ['GET', 'HEAD', 'DELETE']) {
  for (const type of ['text/plain', undefined]) {
    test(`§4 a body on ${method} is ignored, Content-Type: ${type ?? 'none'}`, async () => {
      for (const body of ['', '{"data":', 'x'.repeat(100_000)]) {
        const path = `/items/${await createText(service, '{"data":{}}')}`
        const headers = { 'content-type': type }
        const options = { token: service.validToken(), body, headers }
        const answer = await service.request(method, path, options)
        assert.equal(answer.status, method === 'DELETE' ? 204 : 200, answer.text)
      }
    })
  }
}

test('§4 an invalid body is rejected before the rest of it has arrived, which is then read to its end', async () => {
  for (const [length, start] of [
    [1_000_000, '{"data":{"a":1},}'],
    [1_000_000, '{"data":{"a":tru '],
    [5_000_000, `{"data":{"a":"${'x'.repeat(500_000)}\n`],
    [5_000_000, Buffer.from(`{"data":{"a":"${'é'.repeat(100_000)}\xff"`, 'latin1')],
  ] as const) {
    const head = headOf(service, 'POST', '/items', `Content-Length: ${length}`)
    const socket = openSocket(service.baseUrl, head)
    socket.write(start)
    assert.match(await firstText(socket), /^HTTP\/1\.1 422 .*VALIDATION_ERROR/s)
    socket.write(Buffer.alloc(length - Buffer.byteLength(start)))
    socket.write(headOf(service, 'GET', `/items/${item.id}`))
    assert.match(await firstText(socket), /^HTTP\/1\.1 200 /)
    socket.destroy()
  }
})

test('§4 the error message for a long body stays short', async () => {
  const body = `{"data":{"a":"${'x'.repeat(1_000_000)}"},}`
  const answer = await sendText(service, 'POST', '/items', body)
  assert.ok(assertRefused(answer, 422, 'VALIDATION_ERROR').length < 300)
})

async function assertInvalid(
  says: RegExp,
  options: { body: string | Buffer; headers?: Record<string, string> },
): Promise<void> {
  const sent = { token: service.validToken(), ...options }
  for (const path of ['/items', `/items/${item.id}`]) {
    const answer = await service.request(path === '/items' ? 'POST' : 'PUT', path, sent)
    assert.match(assertRefused(answer, 422, 'VALIDATION_ERROR'), says)
  }
  assert.deepEqual(await stored(service, item.id), item)
  assert.ok(!(await service.call('GET', '/items')).text.includes(mark))
}
