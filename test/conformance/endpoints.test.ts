/** Tests of the endpoints (spec §4). */

import assert from 'node:assert/strict'
import { create, envelopeOf, itemOf, itemsOf, listed, record, stored } from './expect.js'
import { useService } from './service.js'
import { test } from './test.js'

const service = await useService()

// This test runs first, while the service may still have no items.
test('§4.2 the list is an array, even when no items exist', async () => {
  itemsOf(await service.call('GET', '/items'))
})

const table = [
  { method: 'GET', path: '/health', status: 200 },
  { method: 'GET', path: '/items', status: 200 },
  { method: 'POST', path: '/items', status: 201 },
  { method: 'GET', path: '/items/{item_id}', status: 200 },
  { method: 'PUT', path: '/items/{item_id}', status: 200 },
  { method: 'DELETE', path: '/items/{item_id}', status: 204 },
]
for (const { method, path, status } of table) {
  test(`§4 ${method} ${path}: ${status}`, async () => {
    const { id } = await create(service, {})
    const value = method === 'POST' || method === 'PUT' ? { data: {} } : undefined
    const answer = await service.call(method, path.replace('{item_id}', id), value)
    assert.equal(answer.status, status, 'status')
  })

  test(`§4 ${method} ${path}: auth is ${path === '/health' ? 'none' : 'JWT'}`, async () => {
    const { id } = await create(service, {})
    const { status: answered } = await service.request(method, path.replace('{item_id}', id))
    assert.equal(answered, path === '/health' ? 200 : 401, 'status')
  })
}

test('§4.1 health is healthy, without an Authorization header', async () => {
  const answer = await service.request('GET', '/health')
  assert.equal(answer.status, 200, 'status')
  assert.equal(record(answer.json()).status, 'healthy', 'the status of health')
})

test('§4.2 the list is the full collection, with no pagination', async () => {
  const count = 250
  const created = await Promise.all(
    Array.from({ length: count }, (_, index) => create(service, { index }, 'many')),
  )
  const byId = new Map((await listed(service)).map((item) => [item.id, item]))
  for (const item of created) assert.deepEqual(byId.get(item.id), item, 'the item in the list')
})

test('§4.2 the list has each item once', async () => {
  const { id } = await create(service, { a: 1 })
  await service.call('PUT', `/items/${id}`, { data: { a: 2 } })
  const ids = (await listed(service)).map((item) => item.id)
  assert.equal(ids.length, new Set(ids).size, 'the length of the list')
})

test('§4.3 create answers 201 created with the new item and its id', async () => {
  const request = { data: { name: 'a', tags: ['x'] }, project_id: 'p' }
  const envelope = envelopeOf(await service.call('POST', '/items', request), 201)
  assert.equal(envelope.status, 'created', 'the member status')
  const { id, ...rest } = record(envelope.data)
  assert.deepEqual(rest, { project_id: 'p', name: 'a', tags: ['x'] }, 'the item')
  assert.deepEqual(await stored(service, String(id)), envelope.data, 'the stored item')
})

test('§4.3 two creates with equal bodies yield two different ids', async () => {
  const value = { data: { same: true }, project_id: 'p' }
  const first = itemOf(await service.call('POST', '/items', value), 201)
  const second = itemOf(await service.call('POST', '/items', value), 201)
  assert.notEqual(first.id, second.id, 'two items have the same id')
  assert.deepEqual(await stored(service, first.id), first, 'the stored item')
  assert.deepEqual(await stored(service, second.id), second, 'the stored item')
})

test('§2.3 §4.5 replace is full: earlier members are dropped, id is unchanged', async () => {
  const item = await create(service, { dropped: 1, nested: { dropped: 1, kept: 1 } }, 'old')
  const { id } = item
  assert.deepEqual(await stored(service, id), item, 'the stored item')
  const value = { data: { nested: { kept: 2 } }, project_id: 'new' }
  const envelope = envelopeOf(await service.call('PUT', `/items/${id}`, value), 200)
  assert.equal(envelope.status, 'updated', 'the member status')
  assert.deepEqual(envelope.data, { id, project_id: 'new', nested: { kept: 2 } }, 'data')
  assert.deepEqual(await stored(service, id), envelope.data, 'the stored item')
})

test('§4.5 replace drops an earlier project_id when the request has none', async () => {
  const { id } = await create(service, {}, 'old')
  assert.notEqual(
    itemOf(await service.call('PUT', `/items/${id}`, { data: {} }), 200).project_id,
    'old',
    'project_id is the earlier one',
  )
  assert.notEqual((await stored(service, id))?.project_id, 'old', 'project_id is the earlier one')
})
