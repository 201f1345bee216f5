import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import {
  createItem,
  createItems,
  describeStore,
  itemText,
  textOf,
} from '../../../test/support/store-behaviour.js'
import { type ItemId, newItemId } from '../../item/id.js'
import type { EncodedItem } from '../../item/item.js'
import { Blocks } from './blocks.js'
import { hashOf } from './item-index.js'
import { createMemoryStore } from './store.js'

const room = 100_000_000

describeStore('the memory store', () => createMemoryStore(room))
for (const blockBytes of [1, 100, 500, 2000]) {
  describeStore(`the memory store with blocks of ${blockBytes} bytes`, () =>
    createMemoryStore(room, new Blocks({ blockBytes })),
  )
}

test('items of any length take less than 1.35 times the memory of their texts, and twice after deletes, which free slabs', async () => {
  for (const length of [300, 3000, 12_000, 17_000, 25_000, 33_000, 70_000]) {
    const blocks = new Blocks()
    const store = createMemoryStore(room, blocks)
    const ids = await createItems(store, Math.ceil(20_000_000 / length), length)
    const assertDense = async (most: number) => {
      const { itemBytes, memoryBytes } = await store.size()
      assert.ok(memoryBytes / itemBytes < most, `${memoryBytes} bytes for ${itemBytes}`)
    }
    await assertDense(1.35)
    for (const [place, id] of ids.entries()) if (place % 10 > 2) await store.delete(id)
    await assertDense(2)
    const { bytesHeld, bytesInUse } = blocks.frames
    assert.ok(bytesHeld < 2.5 * bytesInUse, `${bytesHeld} bytes held for ${bytesInUse}`)
  }
})

test('items whose ids have the same hash are different items', async () => {
  const one = '89d60498-0000-4000-8000-89d6bc014d32' as ItemId // a UUID in lower case
  const other = '6eb3b838-0000-4000-8000-6eb382d333b0' as ItemId // a UUID in lower case
  assert.equal(hashOf(one), hashOf(other))
  for (const length of [10, 40_000]) {
    const store = createMemoryStore(room)
    await store.create(one, itemText(one, length))
    assert.equal(await store.read(other), undefined)
    assert.equal(await store.create(other, itemText(other, length)), true)
    assert.equal(await store.delete(one), 'done')
    assert.deepEqual(await store.read(other), itemText(other, length))
    assert.equal(await store.delete(one), 'absent')
  }
})

test('the chunks of an open list stay as they are when the memory of deleted items is used again', async () => {
  for (const listed of [1, 10]) {
    const store = createMemoryStore(room)
    const ids: ItemId[] = []
    for (let made = 0; made < 200; made += 1) ids.push(await createItem(store, 30_000))
    for (const id of ids.splice(0, 200 - listed)) await store.delete(id)
    const list = await store.list()
    const chunks: Uint8Array[] = []
    for await (const chunk of list.chunks) {
      chunks.push(chunk)
      for (let made = 0; made < 400; made += 1) ids.push(await createItem(store, 30_000))
      for (const id of ids.splice(listed, 400)) await store.delete(id)
    }
    const texts = await Promise.all(ids.map((id) => store.read(id)))
    assert.equal(Buffer.concat(chunks).toString(), texts.join(','))
    list.release()
  }
})

test('an open list does not show items that are created after the last block was removed', async () => {
  const store = createMemoryStore(room, new Blocks({ blockBytes: 1000 }))
  const ids = await createItems(store, 6, 200) // two blocks with three items each
  const list = await store.list()
  for (const id of ids.slice(3)) await store.delete(id)
  await createItem(store, 100)
  const next = await store.list()
  assert.equal(await textOf(list), ids.map((id) => itemText(id, 200).toString()).join(','))
  assert.equal((await textOf(next)).match(/"id"/g)?.length, 4)
})

test('memory is returned to the system after many changes to items of all lengths', () => {
  const script = `
    import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises'
    import { createMemoryStore } from '${new URL('./store.js', import.meta.url)}'
    import { newItemId } from '${new URL('../../item/id.js', import.meta.url)}'
    import { mapped } from '${new URL('../../memory/mapped.js', import.meta.url)}'
    const store = createMemoryStore(100 * 1024 ** 2)
    const before = process.memoryUsage.rss()
    const ids = []
    for (let step = 0; step < 8000; step += 1) {
      const place = Math.floor(Math.random() * ids.length)
      const isNew = ids.length === 0 || Math.random() < 0.6
      const id = isNew ? newItemId() : ids[place]
      const item = mapped(Math.floor(100 * Math.exp(Math.random() * Math.log(20_000))))
      item.write('{"id":"' + id)
      try {
        if (isNew) {
          store.create(id, item)
          ids.push(id)
        } else store.replace(id, item)
      } catch {
        store.delete(ids[place])
        ids.splice(place, 1)
      }
      if (step % 4 === 0) await nextTurn()
    }
    for (const id of ids) store.delete(id)
    for (let time = 0; time < 3; time += 1) {
      globalThis.gc()
      await wait(50)
    }
    console.log((process.memoryUsage.rss() - before) / 1024 ** 2)
  `
  const flags = ['--expose-gc', '--input-type=module', '--eval', script]
  const { stdout, stderr } = spawnSync(process.execPath, flags, { encoding: 'utf8' })
  assert.ok(Number(stdout) < 60 && stdout !== '', `${stdout} MiB more than before ${stderr}`)
})

test('the version of a project stays the same when items of 100 other projects change', async () => {
  const store = createMemoryStore(room)
  const version = await store.version('shop')
  for (let number = 0; number < 100; number += 1) {
    const id = newItemId()
    const text = `{"id":"${id}","project_id":"project ${number}"}`
    await store.create(id, Buffer.from(text) as EncodedItem) // the text has the format of an encoded item
  }
  assert.equal(await store.version('shop'), version)
})
