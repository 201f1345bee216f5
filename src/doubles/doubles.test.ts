/** What a reset means for operations that are delayed. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newItemId } from '../item/id.js'
import { encodeItem } from '../item/item.js'
import { createMemoryStore } from '../store/memory/store.js'
import { createDoubles } from './doubles.js'

const item = { projectId: Buffer.from('null'), members: Buffer.alloc(0) }

test('operations that a reset overtakes fail without an effect, and those that a stop ends succeed', async () => {
  const store = createMemoryStore(1000)
  const doubles = createDoubles({ delay: { min: 60_000, max: 60_000 } })
  const stopping = new AbortController()
  const slowed = doubles.slowed(store, stopping.signal)
  const create = async () => {
    const id = newItemId()
    return await slowed.create(id, encodeItem(id, item))
  }
  const early = create()
  doubles.reset()
  const late = create()
  stopping.abort()
  await assert.rejects(early, { name: 'StoreError', code: 'STORE_UNAVAILABLE' })
  assert.equal(await late, true)
  assert.equal((await store.size()).items, 1)
})
