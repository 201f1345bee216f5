/** Tests of an item's states and the transitions between them (spec §3). */

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

test('§2.1 §3 absent, POST with a valid body: stored under a new UUID, 201', async () => {
  const before = new Set((await listed(service)).map(({ id }) => id))
  const { id } = itemOf(await service.call('POST', '/items', { data: { a: 1 } }), 201)
  assertUuid(id)
  assert.equal(before.has(id), false, 'whether an earlier item has the same id')
  assert.equal((await stored(service, id))?.a, 1, 'a member of the stored item')
})

test('§1.1 §1.4 §3 §4.6 stored, DELETE: absent, 204 without body; only that item is removed', async () => {
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
  for (const [what, wasDeleted] of [
    ['with an unknown id', false],
    ['after DELETE', true],
  ] as const) {
    test(`§3 §4 §7 absent, ${method} ${what}: 404 with the id in detail and a session_id, stays absent`, async () => {
      const id = wasDeleted ? (await create(service, {})).id : randomUUID()
      if (wasDeleted) await service.call('DELETE', `/items/${id}`)
      const answer = await service.call(method, `/items/${id}`, value)
      assertItemNotFound(answer, id)
      sessionIdOf(answer)
      assert.equal(await stored(service, id), undefined, 'the stored item')
      assert.equal(await isListed(id), false, 'whether the item is in the list')
    })
  }
}
