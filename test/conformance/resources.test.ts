/** Tests of resources and their fields (spec §2). */

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import {
  assertError,
  assertSessionId,
  create,
  envelopeOf,
  itemOf,
  listed,
  record,
  stored,
} from './expect.js'
import { useService } from './service.js'
import { test } from './test.js'

const service = await useService()

const foreignId = randomUUID()
const requestsWithId = [
  { title: 'next to data', request: { id: foreignId, data: { a: 1 } } },
  { title: 'in data', request: { data: { id: foreignId, a: 1 } } },
]
for (const { title, request } of requestsWithId) {
  test(`§2.1 id is never taken from the client, even if it is ${title}`, async () => {
    const answer = await service.call('POST', '/items', request)
    if (answer.status !== 422)
      assert.notEqual(itemOf(answer, 201).id, foreignId, 'the id is that of the client')
    assert.equal(await stored(service, foreignId), undefined, 'the stored item')
  })

  test(`§2.1 id is preserved on replace, even if another id is ${title}`, async () => {
    const { id } = await create(service, {})
    const answer = await service.call('PUT', `/items/${id}`, request)
    if (answer.status !== 422)
      assert.equal(itemOf(answer, 200).id, id, 'the id of the replaced item')
    assert.equal((await stored(service, id))?.id, id, 'the id of the stored item')
    assert.equal(await stored(service, foreignId), undefined, 'the stored item')
  })
}

const values = {
  string: 'text',
  'empty string': '',
  unicode: 'é ключ 漢字 🦄 \u2028 \u0000',
  'string with space around it': ' \n\ttext\t\n ',
  'long string': 'x'.repeat(100_000),
  integer: 42,
  negative: -7,
  fraction: 0.1,
  'large and small': [1.7976931348623157e308, 5e-324],
  zero: 0,
  true: true,
  false: false,
  null: null,
  array: [1, 'two', [3], {}, null],
  'empty array': [],
  object: { nested: { deeper: { deepest: [true] } } },
  'empty object': {},
}

for (const [title, value] of Object.entries(values)) {
  test(`§2.1 a member of data is stored verbatim: ${title}`, async () => {
    const item = await create(service, { value })
    assert.deepEqual(item.value, value, 'the member of the response')
    const kept = await stored(service, item.id)
    assert.deepEqual(kept?.value, value, 'the member of the stored item')
  })
}

test('§2.1 a member of data is stored verbatim: an integer keeps all its digits', async () => {
  const body = '{"data":{"n":[12345678901234567890,-9007199254740993]}}'
  const token = service.validToken()
  const created = await service.request('POST', '/items', { token, body })
  const { id } = itemOf(created, 201)
  const read = await service.call('GET', `/items/${id}`)
  const all = await service.call('GET', '/items')
  for (const { text } of [created, read, { text: all.text.slice(all.text.indexOf(id)) }]) {
    assert.match(text, /"n":\s*\[\s*12345678901234567890\s*,\s*-9007199254740993\s*\]/, 'the item')
  }
})

test('§2.1 the keys of data may be any text, including data and names that are special in some language', async () => {
  const names = ['', '__proto__', 'constructor', 'toString', 'length', '__class__', 'null', '$ref']
  const members = names.map((name, value): [string, unknown] => [name, value])
  const data = Object.fromEntries([...members, ['data', { data: 1 }]])
  const item = await create(service, data, 'p')
  const entries = [...Object.entries(data), ['id', item.id], ['project_id', 'p']]
  assert.deepEqual(item, Object.fromEntries(entries), 'the item')
  assert.deepEqual(await stored(service, item.id), item, 'the stored item')
})

test('§2.1 the keys of data become the item itself, next to id and project_id', async () => {
  const data = { name: 'a', Größe: 1, 'with space': 2, 'dot.ted': 3, status: 4, message: 5 }
  const item = await create(service, data, 'p')
  assert.deepEqual(item, { id: item.id, project_id: 'p', ...data }, 'the item')
  assert.equal('data' in item, false, 'whether the item has a member data')
})

const mark = randomUUID()
const invalid = [
  { title: 'data missing', body: { project_id: mark } },
  { title: 'data null', body: { data: null } },
  { title: 'data an array', body: { data: [] } },
  { title: 'data a string', body: { data: 'text' } },
  { title: 'data a number', body: { data: 1 } },
  { title: 'data a boolean', body: { data: true } },
  { title: 'project_id of length 0', body: { data: {}, project_id: '' } },
  { title: 'project_id a number', body: { data: {}, project_id: 1 } },
  { title: 'project_id a boolean', body: { data: {}, project_id: false } },
  { title: 'project_id an array', body: { data: {}, project_id: ['p'] } },
  { title: 'project_id an object', body: { data: {}, project_id: { p: 1 } } },
]
for (const { title, body } of invalid) {
  test(`§2.2 §3 §4.3 §4.5 ${title}: 422 on create and replace`, async () => {
    const item = await create(service, { kept: true })
    assertError(await service.call('POST', '/items', body), 422, 'VALIDATION_ERROR')
    assertError(await service.call('PUT', `/items/${item.id}`, body), 422, 'VALIDATION_ERROR')
    assert.deepEqual(await stored(service, item.id), item, 'the stored item')
    const isMarked = (await listed(service)).some(({ project_id }) => project_id === mark)
    assert.ok(!isMarked, 'an item was created in spite of a 422')
  })
}

test('§2.2 data may be an empty object', async () => {
  const item = await create(service, {}, 'p')
  assert.deepEqual(item, { id: item.id, project_id: 'p' }, 'the item')
})

test('§2.2 project_id may be omitted', async () => {
  const item = await create(service, { a: 1 })
  assert.equal(item.a, 1, 'a member of the item')
  assert.ok((item.project_id ?? null) === null, 'project_id is neither absent nor null')
})

test('§2.3 §4.4 get: status success, message "Item retrieved successfully", data the item', async () => {
  const item = await create(service, { a: 1 })
  const envelope = envelopeOf(await service.call('GET', `/items/${item.id}`), 200)
  assert.equal(envelope.status, 'success', 'the member status')
  assert.equal(envelope.message, 'Item retrieved successfully', 'message')
  assert.deepEqual(envelope.data, item, 'data')
})

test('§2.4 §3 §4.1 health is healthy, with session_id, service_name, version and services_summary', async () => {
  const answer = await service.request('GET', '/health')
  assert.equal(answer.status, 200, 'status')
  const health = record(answer.json())
  assertSessionId(health.session_id)
  assert.equal(health.status, 'healthy', 'the status of health')
  const isNamed = typeof health.service_name === 'string' && health.service_name !== ''
  assert.ok(isNamed, 'service_name is not a string with characters')
  assert.equal(typeof health.version, 'string', 'the type of version')
  const summary = record(health.services_summary)
  for (const name of ['total', 'healthy', 'unhealthy']) {
    const isCount = Number.isInteger(summary[name]) && Number(summary[name]) >= 0
    assert.ok(isCount, `${name} is not a count`)
  }
  assert.equal(summary.total, Number(summary.healthy) + Number(summary.unhealthy), 'total')
})

test('§2.4 service_name is constant', async () => {
  const answers = [
    await service.request('GET', '/health'),
    await service.request('GET', '/health', { token: service.validToken() }),
  ]
  const [first, second] = answers.map((answer) => record(answer.json()).service_name)
  assert.equal(first, second, 'service_name of another response')
})
