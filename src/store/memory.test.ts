import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  describeFullStore,
  describeStore,
  itemText,
  textOf,
} from '../../test/support/store-behaviour.js'
import { newItemId } from '../item/id.js'
import { createMemoryStore } from './memory.js'

const room = 100_000_000

describeStore('the memory store', () => createMemoryStore(room))
for (const pageBytes of [1, 100, 500, 2000]) {
  describeStore(`the memory store with pages of ${pageBytes} bytes`, () =>
    createMemoryStore(room, pageBytes),
  )
}
describe('the memory store', () => describeFullStore(createMemoryStore))

test('the list of a large store comes in pages, and half of it may go while it is read', async () => {
  const store = createMemoryStore(room)
  const ids = Array.from({ length: 20_000 }, newItemId)
  for (const id of ids) await store.create(id, itemText(id, 200))
  const expected = ids.map((id) => itemText(id, 200).toString()).join(',')

  const { chunks, release } = await store.list()
  const parts: Buffer[] = []
  for await (const chunk of chunks) {
    parts.push(Buffer.from(chunk))
    for (const id of ids.splice(0, 1500)) await store.delete(id)
  }
  release()
  assert.ok(parts.length > 10)
  assert.equal(Buffer.concat(parts).toString(), expected)
  assert.equal((await store.size()).items, 0)
  assert.equal(await textOf(await store.list()), '')
})
