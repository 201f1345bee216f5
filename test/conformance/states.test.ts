/** Tests of the states of an item and their transitions (spec §3). */

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import {
  assertItemNotFound,
  assertUuid,
  create,
  itemOf,
  listed,
  sessionIdOf,
  stored,
} from './expect.js'
import { useService } from './service.js'
import { test } from './test.js'

const service = await useService()
const isListed = async (id: string) => (await listed(service)).some((item) => item.id === id)

test('§3 absent, POST with a valid body: stored under a new UUID, 201', async () => {
  const before = new Set((await listed(service)).map(({ id }) => id))
  const { id } = itemOf(await service.call('POST', '/items', { data: { a: 1 } }), 201)
  assertUuid(id)
  assert.equal(before.has(id), false, 'whether an earlier item has the same id')
  assert.equal((await stored(service, id))?.a, 1, 'a member of the stored item')
})

test('§3 absent, POST with an invalid body: stays absent', async () => {
  const mark = randomUUID()
  assert.equal((await service.call('POST', '/items', { project_id: mark })).status, 422, 'status')
  assert.ok(
    (await listed(service)).every((item) => item.project_id !== mark),
    'an item was created in spite of a 422',
  )
})

test('§3 stored, PUT: replaced by id, project_id and the keys of data, id kept, 200', async () => {
  const { id } = await create(service, { dropped: 1, kept: 'old' }, 'old')
  const request = { data: { kept: 'new', added: 2 }, project_id: 'new' }
  const expected = { id, project_id: 'new', kept: 'new', added: 2 }
  assert.deepEqual(
    itemOf(await service.call('PUT', `/items/${id}`, request), 200),
    expected,
    'the replaced item',
  )
  assert.deepEqual(await stored(service, id), expected, 'the stored item')
  assert.deepEqual(
    (await listed(service)).filter((item) => item.id === id),
    [expected],
    'the item in the list',
  )
})

test('§3 stored, PUT with an invalid body: stays as it was', async () => {
  const item = await create(service, { a: 1 }, 'p')
  assert.equal((await service.call('PUT', `/items/${item.id}`, { data: 1 })).status, 422, 'status')
  assert.deepEqual(await stored(service, item.id), item, 'the stored item')
})

test('§1.4 §3 §4.6 stored, DELETE: absent, 204 without body; only that item is removed', async () => {
  const item = await create(service, { name: 'deleted' })
  const others = [await create(service, { name: 'before' }), await create(service, { name: 'b' })]
  const answer = await service.call('DELETE', `/items/${item.id}`)
  assert.equal(answer.status, 204, 'status')
  assert.equal(answer.text, '', 'the body of a 204')
  assert.equal(await stored(service, item.id), undefined, 'the stored item')
  assert.equal(await isListed(item.id), false, 'whether the item is in the list')
  for (const other of others) {
    assert.deepEqual(await stored(service, other.id), other, 'the stored item')
    assert.equal(await isListed(other.id), true, 'whether the item is in the list')
  }
})

for (const method of ['GET', 'PUT', 'DELETE']) {
  const value = method === 'PUT' ? { data: { a: 1 } } : undefined

  test(`§3 §4 §7 absent, ${method} with an unknown id: 404 with the id in detail and a session_id, stays absent`, async () => {
    const id = randomUUID()
    const answer = await service.call(method, `/items/${id}`, value)
    assertItemNotFound(answer, id)
    sessionIdOf(answer)
    assert.equal(await stored(service, id), undefined, 'the stored item')
    assert.equal(await isListed(id), false, 'whether the item is in the list')
  })

  test(`§3 absent, ${method} after DELETE: 404, stays absent`, async () => {
    const { id } = await create(service, {})
    assert.equal((await service.call('DELETE', `/items/${id}`)).status, 204, 'status')
    assertItemNotFound(await service.call(method, `/items/${id}`, value), id)
    assert.equal(await stored(service, id), undefined, 'the stored item')
  })
}

test('§3 health is one of healthy and unhealthy', async () => {
  const answer = await service.request('GET', '/health')
  assert.match(answer.text, /"status":\s*"(?:un)?healthy"/, 'the body of health')
})
