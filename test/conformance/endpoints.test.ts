/** Tests of the endpoints (spec §4). */

import assert from 'node:assert/strict'
import { create, envelopeOf, itemOf, itemsOf, listed, record, stored } from './expect.js'
import { useService } from './service.js'
import { test } from './test.js'

const service = await useService()

// Runs first, while the service may still have no items.
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
  const isPublic = path === '/health'
  const clauses = isPublic ? '§1.3 §4' : '§4 §5.1'
  const value = method === 'POST' || method === 'PUT' ? { data: {} } : undefined

  test(`${clauses} ${method} ${path}: ${status}; auth is ${isPublic ? 'none' : 'JWT'}`, async () => {
    const target = path.replace('{item_id}', (await create(service, {})).id)
    const bare = await service.request(method, target)
    assert.equal(bare.status, isPublic ? 200 : 401, 'status without a token')
    assert.equal((await service.call(method, target, value)).status, status, 'status')
  })
}

test('§4.2 the list is the full collection, with each item once, and no pagination', async () => {
  const created = await Promise.all(
    Array.from({ length: 250 }, (_, index) => create(service, { index }, 'many')),
  )
  const value = { data: { index: 0 }, project_id: 'many' }
  await service.call('PUT', `/items/${created[0]?.id}`, value)
  const items = await listed(service)
  const byId = new Map(items.map((item) => [item.id, item]))
  for (const item of created) assert.deepEqual(byId.get(item.id), item, 'the item in the list')
  assert.equal(items.length, byId.size, 'the length of the list')
})

test('§2.1 §2.3 §4.3 create answers 201 created with the new item and its id', async () => {
  const request = { data: { name: 'a', tags: ['x'] }, project_id: 'p' }
  const envelope = envelopeOf(await service.call('POST', '/items', request), 201)
  assert.equal(envelope.status, 'created', 'the member status')
  assert.equal(envelope.message, 'Item created successfully', 'message')
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

test('§2.1 §2.3 §3 §4.5 replace is full: earlier members are dropped, id is unchanged', async () => {
  const item = await create(service, { dropped: 1, nested: { dropped: 1, kept: 1 } }, 'old')
  const { id } = item
  assert.deepEqual(await stored(service, id), item, 'the stored item')
  const value = { data: { nested: { kept: 2 }, added: 2 }, project_id: 'new' }
  const envelope = envelopeOf(await service.call('PUT', `/items/${id}`, value), 200)
  assert.equal(envelope.status, 'updated', 'the member status')
  const expected = { id, project_id: 'new', ...value.data }
  assert.deepEqual(envelope.data, expected, 'data')
  assert.deepEqual(await stored(service, id), expected, 'the stored item')
  const inList = (await listed(service)).filter((other) => other.id === id)
  assert.deepEqual(inList, [expected], 'the item in the list')
})

test('§4.5 replace drops an earlier project_id when the request has none', async () => {
  const { id } = await create(service, {}, 'old')
  const replaced = itemOf(await service.call('PUT', `/items/${id}`, { data: {} }), 200)
  assert.notEqual(replaced.project_id, 'old', 'project_id is the earlier one')
  assert.notEqual((await stored(service, id))?.project_id, 'old', 'project_id is the earlier one')
})
