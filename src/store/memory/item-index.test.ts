/** The index finds every item, and refuses what it has no handle for. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ItemId } from '../item-store.js'
import { Blocks } from './blocks.js'
import { type Handle, handleRecords, ItemIndex } from './item-index.js'
import { storeOf } from './store.js'

const full = { name: 'StoreError', code: 'STORE_FULL' }

/** Ids of one shard, whose hashes are alike in threes. */
const ids = Array.from({ length: 100 }, (_, place) => {
  const hash = Math.floor(place / 3).toString(16)
  return `07000000-0000-4000-8000-${place.toString(16).padStart(4, '0')}${hash.padStart(8, '0')}` as ItemId
})

function added(index: ItemIndex, id: ItemId, block: number): Handle {
  const handle = index.add(id)
  index.setBlock(handle, block)
  return handle
}

test('items are found until they are removed, and their records are used again', () => {
  const index = new ItemIndex()
  for (const [block, id] of ids.entries()) added(index, id, block)
  for (const [block, id] of ids.entries()) {
    const handle = index.find(id)
    assert.ok(handle !== undefined)
    assert.equal(index.blockOf(handle), block)
    if (block % 2 === 0) index.remove(handle)
  }
  for (const [block, id] of ids.entries())
    assert.equal(index.find(id) === undefined, block % 2 === 0)
  for (const [block, id] of ids.entries()) if (block % 2 === 0) added(index, id, block + 1000)
  for (const [block, id] of ids.entries()) {
    assert.equal(index.blockOf(index.find(id) ?? -1), block % 2 === 0 ? block + 1000 : block)
  }
})

test('ids that differ in any one digit alone are told from each other', () => {
  const digits = '0123456789abcdef'
  const first = '00000000-0000-0000-0000-000000000000' as ItemId
  const others = [...first].flatMap((dash, place) => {
    if (dash === '-') return []
    return [...digits.slice(1)].map((digit) => {
      return `${first.slice(0, place)}${digit}${first.slice(place + 1)}` as ItemId
    })
  })
  const index = new ItemIndex()
  const all = [first, ...others]
  for (const [block, id] of all.entries()) {
    assert.equal(index.find(id), undefined)
    added(index, id, block)
  }
  for (const [block, id] of all.entries()) assert.equal(index.blockOf(index.find(id) ?? -1), block)
  assert.equal(all.length, 32 * 15 + 1)
})

test('the last records that a handle can name are told from each other', () => {
  const index = new ItemIndex()
  const [first, second] = [ids[0], ids[1]] as [ItemId, ItemId] // there are a hundred
  const shard = index.shards[0x07]
  assert.ok(shard)
  shard.records = new Uint32Array(handleRecords * 5)
  shard.slots = new Uint32Array(8)
  shard.used = handleRecords - 2
  const handles = [added(index, first, 1), added(index, second, 2)]
  assert.deepEqual([index.find(first), index.find(second)], handles)
  assert.deepEqual(
    handles.map((handle) => index.blockOf(handle)),
    [1, 2],
  )
})

test('a shard at its end refuses more, and takes it once an item is gone', () => {
  const index = new ItemIndex(20)
  for (const [block, id] of ids.slice(0, 20).entries()) added(index, id, block)
  for (const id of ids.slice(20)) assert.throws(() => index.add(id), full)
  for (const [block, id] of ids.slice(0, 20).entries()) {
    assert.equal(index.blockOf(index.find(id) ?? -1), block)
  }
  const [first, last] = [ids[0], ids[99]] as [ItemId, ItemId] // there are a hundred
  index.remove(index.find(first) ?? -1)
  added(index, last, 99)
  assert.equal(index.blockOf(index.find(last) ?? -1), 99)
  assert.equal(index.find(first), undefined)
})

test('a store whose shard is at its end refuses the item whole', async () => {
  const store = storeOf(new Blocks({ blockBytes: 1000, maxBlocks: 100, maxRecords: 20 }), 1e6)
  const item = Buffer.from('{}') as Parameters<typeof store.create>[1] // stores do not look inside
  for (const id of ids.slice(0, 20)) await store.create(id, item)
  const before = await store.size()
  await assert.rejects(async () => store.create(ids[20] as ItemId, item), full) // there are a hundred
  assert.deepEqual(await store.size(), before)
})
