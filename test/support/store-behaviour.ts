/** What every store does, whatever keeps the items: applied to each of them by its own test. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { newItemId } from '../../src/item/id.js'
import type { EncodedItem, ItemId, ItemList, ItemStore } from '../../src/store/item-store.js'

/** An item of about `length` bytes. */
export function itemText(id: ItemId, length: number, fill = 'x'): EncodedItem {
  const item = Buffer.from(`{"id":"${id}","é":"${fill.repeat(length)}"}`)
  return item as EncodedItem // shaped like one; stores do not look inside
}

/** The whole list as text, with a check that it is as long as announced. */
export async function textOf(list: ItemList): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of list.chunks) chunks.push(Buffer.from(chunk))
  const whole = Buffer.concat(chunks)
  assert.equal(whole.length, list.byteLength)
  list.release()
  return whole.toString()
}

/** @param create makes an empty store that holds at least `maxBytes` bytes of items. */
export function describeStore(name: string, create: () => ItemStore | Promise<ItemStore>): void {
  describe(name, () => {
    test('reads what was created, byte for byte', async () => {
      const store = await create()
      const id = newItemId()
      await store.create(id, itemText(id, 10))
      assert.deepEqual(await store.read(id), itemText(id, 10))
      assert.equal((await store.size()).items, 1)
    })

    test('does not know an id that was never created', async () => {
      const store = await create()
      const id = newItemId()
      assert.equal(await store.read(id), undefined)
      assert.equal(await store.replace(id, itemText(id, 1)), false)
      assert.equal(await store.delete(id), false)
      assert.equal((await store.size()).items, 0)
      assert.equal(await textOf(await store.list()), '')
    })

    test('a list is of the moment at which it was asked for', async () => {
      const store = await create()
      const ids = Array.from({ length: 50 }, newItemId)
      for (const id of ids) await store.create(id, itemText(id, 40))
      const expected = ids.map((id) => itemText(id, 40).toString()).join(',')

      const list = await store.list()
      for (const [place, id] of ids.entries()) {
        if (place % 2 === 0) await store.replace(id, itemText(id, 200, 'y'))
        else await store.delete(id)
      }
      for (let more = 0; more < 50; more += 1) {
        const id = newItemId()
        await store.create(id, itemText(id, 40, 'z'))
      }
      assert.equal(await textOf(list), expected)
    })

    test('lists that are read side by side, or dropped half read, do not disturb each other', async () => {
      const store = await create()
      const ids = Array.from({ length: 20 }, newItemId)
      for (const id of ids) await store.create(id, itemText(id, 100))
      const [first, second] = [await store.list(), await store.list()]
      for await (const _chunk of first.chunks) break
      first.release()
      for (const id of ids) await store.delete(id)
      assert.equal(await textOf(second), ids.map((id) => itemText(id, 100).toString()).join(','))
      assert.equal(await textOf(await store.list()), '')
    })

    test('any sequence of operations agrees with a simple model', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(operation, { maxLength: 80 }), async (operations) => {
          const store = await create()
          const model = new Map<ItemId, string>()
          const known: ItemId[] = []
          const open: { list: ItemList; expected: string }[] = []
          const read: { item: Buffer; expected: string }[] = []
          for (const { kind, pick, length } of operations) {
            const id = kind === 'create' ? newItemId() : (known[pick % known.length] ?? newItemId())
            const item = itemText(id, length, String(pick % 10))
            switch (kind) {
              case 'create':
                await store.create(id, item)
                model.set(id, item.toString())
                known.push(id)
                break
              case 'replace':
                assert.equal(await store.replace(id, item), model.has(id))
                if (model.has(id)) model.set(id, item.toString())
                break
              case 'delete':
                assert.equal(await store.delete(id), model.delete(id))
                break
              case 'read': {
                const [found, expected] = [await store.read(id), model.get(id)]
                assert.equal(found?.toString(), expected)
                if (found && expected) read.push({ item: found, expected })
                break
              }
              case 'list':
                open.push({ list: await store.list(), expected: [...model.values()].join(',') })
                break
              case 'drain': {
                const oldest = open.shift()
                if (oldest) assert.equal(await textOf(oldest.list), oldest.expected)
              }
            }
            const { items, itemBytes } = await store.size()
            assert.equal(items, model.size)
            assert.equal(itemBytes, Buffer.byteLength([...model.values()].join('')))
          }
          for (const { list, expected } of open) assert.equal(await textOf(list), expected)
          for (const { item, expected } of read) assert.equal(item.toString(), expected)
          for (const id of known) {
            assert.equal((await store.read(id))?.toString(), model.get(id))
          }
          assert.equal(await textOf(await store.list()), [...model.values()].join(','))
          await store.close()
        }),
        { numRuns: 300 },
      )
    })
  })
}

/** Lists are opened now and read to their end later, so that they race the writes between. */
const operation = fc.record({
  kind: fc.constantFrom(
    ...(['create', 'create', 'create', 'replace', 'replace', 'delete'] as const),
    ...(['read', 'list', 'drain'] as const),
  ),
  pick: fc.nat(1000),
  length: fc.oneof(fc.nat(60), fc.nat(1200)),
})

const full = { name: 'StoreError', code: 'STORE_FULL' }

/** A store that may hold `maxBytes`. @param create makes it empty. */
export function describeFullStore(create: (maxBytes: number) => ItemStore): void {
  test('a full store refuses more, goes on reading and deleting, and deleting makes room', async () => {
    const ids = Array.from({ length: 2000 }, newItemId)
    const store = create(100_000)
    let held = 0
    const fill = async () => {
      for (const id of ids.slice(held)) {
        await store.create(id, itemText(id, 200))
        held += 1
      }
    }
    await assert.rejects(fill, full)
    assert.ok(held > 100 && held < 500, `${held} items of 250 bytes in 100,000`)
    assert.equal((await store.size()).items, held)

    const [first, second, third] = ids
    assert.ok(first && second && third)
    await assert.rejects(async () => store.replace(first, itemText(first, 50_000)), full)
    assert.deepEqual(await store.read(first), itemText(first, 200))
    assert.equal(await store.replace(first, itemText(first, 100)), true)
    assert.equal(await store.replace(first, itemText(first, 100, 'y')), true)
    assert.deepEqual(await store.read(first), itemText(first, 100, 'y'))

    for (const id of ids.slice(0, held)) assert.equal(await store.delete(id), true)
    held = 0
    await assert.rejects(fill, full)
    assert.ok(held > 100, `${held} items after everything was deleted`)
  })
}
