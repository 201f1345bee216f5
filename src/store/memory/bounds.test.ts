/** Tests that a store whose blocks are all in use still works, and that long operations leave time for other work. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { assertSound, retiredIn } from '../../../test/support/assert-sound.js'
import { outputOf } from '../../../test/support/process.js'
import { createItem, itemText, textOf } from '../../../test/support/store-behaviour.js'
import { type ItemId, newItemId } from '../../item/id.js'
import { BufferedBytes } from '../../memory/buffered-bytes.js'
import type { ItemStore } from '../item-store.js'
import { Blocks } from './blocks.js'
import { createMemoryStore } from './store.js'

const full = { name: 'StoreError', code: 'STORE_FULL' }
const blockBytes = 1000
const [small, large] = [300, 600] // lengths of items: a block has room for two small items or for one large item

function opened(maxBlocks: number): { blocks: Blocks; store: ItemStore } {
  const blocks = new Blocks({ blockBytes, maxBlocks })
  return { blocks, store: createMemoryStore(1e9, blocks) }
}

async function fill(store: ItemStore, length: number): Promise<ItemId[]> {
  const ids: ItemId[] = []
  const more = async () => {
    for (;;) ids.push(await createItem(store, length))
  }
  await assert.rejects(more, full)
  return ids
}

test('with all blocks in use, only changes that need another block are refused', async () => {
  for (const length of [small, large]) {
    const { blocks, store } = opened(40)
    const ids = await fill(store, length)
    assert.equal(ids.length, length === small ? 80 : 40)
    const [first, second, third] = ids as [ItemId, ItemId, ItemId] // `ids` has at least 40 elements
    const before = await textOf(await store.list())

    if (length === small) {
      await assert.rejects(async () => store.replace(first, itemText(first, large)), full)
      assert.ok((await textOf(await store.list())) === before)
    }
    assert.equal(await store.replace(first, itemText(first, 10)), 'done')
    assert.deepEqual(await store.read(first), itemText(first, 10))
    assert.equal(await store.replace(second, itemText(second, length, 'y')), 'done')
    assert.deepEqual(await store.read(second), itemText(second, length, 'y'))
    if (length === large) {
      assert.equal(await store.replace(third, itemText(third, 5000)), 'done')
      assert.deepEqual(await store.read(third), itemText(third, 5000))
    }
    assertSound(blocks)
    for (const id of ids) assert.equal(await store.delete(id), 'done')
    assertSound(blocks)
    assert.equal((await fill(store, length)).length, ids.length)
  }
})

test('at the limit on memory for readers, the list that holds the most is released, and no change is refused', async () => {
  const { blocks, store } = opened(40)
  const ids = await fill(store, large)
  const maxBytes = 30 * (itemText(newItemId(), large).length + 1)
  const limit = new BufferedBytes(maxBytes)
  const cut: string[] = []
  const read = async (name: string) => {
    const list = await store.list()
    list.memory.addReader(list, limit, () => {
      cut.push(name)
      list.release()
    })
    return list
  }
  const replace = async (from: number, to: number) => {
    for (const id of ids.slice(from, to)) {
      await store.replace(id, itemText(id, large, 'y'))
      assert.ok(limit.total <= maxBytes)
      assertSound(blocks)
    }
  }
  await read('old')
  await replace(0, 10)
  const text = await textOf(await store.list())
  const young = await read('young')
  await replace(10, 25) // both lists read these blocks, which count for the older list
  await replace(0, 5)
  assert.deepEqual([cut, retiredIn(blocks).length], [[], 30])
  await replace(5, 6)
  assert.deepEqual([cut, retiredIn(blocks).length], [['old'], 21])
  await replace(6, 10)
  await replace(25, 30)
  assert.deepEqual([cut, retiredIn(blocks).length], [['old'], 30])
  assert.ok((await textOf(young)) === text)
  young.memory.removeReader(young)
  assert.deepEqual([limit.total, retiredIn(blocks).length], [0, 0])
  await read('last')
  store.clear?.()
  assert.equal(cut.at(-1), 'last')
})

test('blocks that lists read are kept until the last is released, and then freed over several turns', async () => {
  const { blocks, store } = opened(10_000)
  const ids = await fill(store, large)
  const [first, second] = [await store.list(), await store.list()]
  for (const id of ids) await store.delete(id)
  assert.equal(retiredIn(blocks).length, 10_000)
  second.release()
  assertSound(blocks)
  assert.equal(retiredIn(blocks).length, 10_000)
  let turns = 0
  for (let left = 10_000; left > 0; turns += 1) {
    first.release()
    const freed = left - retiredIn(blocks).length
    assert.ok(freed <= 1000, `${freed} freed`)
    left -= freed
    await nextTurn()
  }
  assert.ok(turns > 10)
  assertSound(blocks)
  assert.equal((await store.size()).memoryBytes, 0)
})

test('a list finds its items behind blocks held by another list, even if that list is released meanwhile', async () => {
  const { store } = opened(100_000)
  const ids = await fill(store, large)
  const first = await store.list()
  for (const id of ids.slice(1)) await store.delete(id)
  const kept = [ids[0], await createItem(store, large)] as [ItemId, ItemId] // `ids` is not empty
  const second = await store.list()
  const reading = textOf(second)
  await nextTurn()
  first.release()
  await nextTurn()
  await store.delete(kept[0])
  const expected = kept.map((id) => itemText(id, large).toString())
  assert.equal(await reading, expected.join(','))
})

test('a released list ends at once, and no longer reads memory that may have been reused', async () => {
  const { store } = opened(100)
  await fill(store, large)
  const list = await store.list()
  let chunks = 0
  for await (const _chunk of list.chunks) {
    chunks += 1
    list.release()
  }
  assert.equal(chunks, 1)
})

test('too many blocks for a heap of 128 MB are refused with STORE_FULL, and the process does not crash', () => {
  const script = `
    import { timesInHeap } from '${new URL('../../memory/shares.js', import.meta.url)}'
    import { Blocks } from '${new URL('./blocks.js', import.meta.url)}'
    import { createMemoryStore } from '${new URL('./store.js', import.meta.url)}'
    const maxBlocks = timesInHeap(2048)
    const store = createMemoryStore(1e12, new Blocks({ maxBlocks, blockBytes: 64 }))
    const idOf = (number) => (number * 4099 % 2 ** 32).toString(16).padStart(8, '0')
      + '-0000-4000-8000-' + number.toString(16).padStart(12, '0')
    const itemOf = (number) => Buffer.from('{"id":"' + idOf(number) + '"}')
    let held = 0
    const refused = new Set()
    const list = store.list()
    for (let number = 0; number < 200_000; number += 1) {
      try {
        store.create(idOf(number), itemOf(number))
        held += 1
      } catch (error) {
        refused.add(error.code)
      }
    }
    store.list()
    for (let number = 0; number < held; number += 1) store.replace(idOf(number), itemOf(number))
    for (let number = 0; number < held; number += 1) store.delete(idOf(number))
    console.log(JSON.stringify({ maxBlocks, held, refused: [...refused], items: store.size().items }))
  `
  const flags = ['--max-old-space-size=128', '--input-type=module', '--eval', script]
  const { maxBlocks, ...outcome } = JSON.parse(outputOf(process.execPath, flags))
  assert.ok(maxBlocks < 200_000)
  assert.deepEqual(outcome, { held: maxBlocks, refused: ['STORE_FULL'], items: 0 })
})
