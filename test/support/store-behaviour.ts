/** What every store does, wherever it keeps its items; each store's own test applies it. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { newItemId } from '../../src/item/id.js'
import type {
  Awaitable,
  EncodedItem,
  ItemId,
  ItemList,
  ItemStore,
} from '../../src/store/item-store.js'
import { ListedItems } from './listed-items.js'

/** An item of about `length` bytes. */
export function itemText(id: ItemId, length: number, fill = 'x'): EncodedItem {
  const item = Buffer.from(`{"id":"${id}","é":"${fill.repeat(length)}"}`)
  return item as EncodedItem // shaped like one; stores do not look inside
}

/** The whole list as text; checks its length against the announced one, if any. */
export async function textOf(list: ItemList): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of list.chunks) chunks.push(Buffer.from(chunk))
  const whole = Buffer.concat(chunks)
  if (list.byteLength !== undefined) assert.equal(whole.length, list.byteLength)
  list.release()
  return whole.toString()
}

/**
 * Tests what every store does, and what this one guarantees about its lists.
 * @param create creates an empty store with room for a megabyte of items.
 * @param runs number of sequences of operations: fewer for a slower store.
 */
export function describeStore(name: string, create: () => Awaitable<ItemStore>, runs = 300): void {
  describe(name, () => {
    /** A test with an empty store. */
    function behaves(title: string, run: (store: ItemStore) => Promise<void>): void {
      test(title, async () => {
        const store = await create()
        await run(store)
        await store.close()
      })
    }

    behaves('reads what was created, byte for byte', async (store) => {
      const id = newItemId()
      await store.create(id, itemText(id, 10))
      assert.deepEqual(await store.read(id), itemText(id, 10))
      assert.equal((await store.size()).items, 1)
    })

    behaves('finds nothing for an id that was never created', async (store) => {
      const id = newItemId()
      assert.equal(await store.read(id), undefined)
      assert.equal(await store.replace(id, itemText(id, 1)), 'absent')
      assert.equal(await store.delete(id), 'absent')
      assert.equal((await store.size()).items, 0)
      assert.equal(await textOf(await store.list()), '')
    })

    behaves(
      'is healthy when it is empty, and when it holds items and a list is read',
      async (store) => {
        assert.equal(await store.healthy(), true)
        const ids = await filled(store, new ListedItems(store.guarantees), 20)
        const list = await store.list()
        assert.equal(await store.healthy(), true)
        assert.equal((await store.size()).items, ids.length)
        list.release()
      },
    )

    behaves('clear removes all items, but not from a list that is a snapshot', async (store) => {
      const items = new ListedItems(store.guarantees)
      const ids = await filled(store, items, 60)
      const list = await store.list()
      const check = items.listed()
      await store.clear()
      if (store.guarantees.isSnapshot) check(await textOf(list))
      else list.release()
      assert.equal(await textOf(await store.list()), '')
      const { items: count, itemBytes } = await store.size()
      assert.deepEqual({ count, itemBytes }, { count: 0, itemBytes: 0 })
      for (const id of ids) assert.equal(await store.read(id), undefined)
      const added = new ListedItems(store.guarantees)
      await filled(store, added, 20)
      added.listed()(await textOf(await store.list()))
    })

    behaves('a list shows what is guaranteed while items come, change and go', async (store) => {
      const items = new ListedItems(store.guarantees)
      const ids = await filled(store, items, 60)
      const list = await store.list()
      const check = items.listed()
      await change(store, items, ids)
      await filled(store, items, 50)
      check(await textOf(list))
    })

    behaves(
      'lists read side by side, or abandoned halfway, do not disturb each other',
      async (store) => {
        const items = new ListedItems(store.guarantees)
        const ids = await filled(store, items, 60)
        const [first, second] = [await store.list(), await store.list()]
        const check = items.listed()
        for await (const _chunk of first.chunks) break
        first.release()
        await change(store, items, ids)
        check(await textOf(second))
        for (const id of ids) {
          await store.delete(id)
          items.set(id, undefined)
        }
        assert.equal(await textOf(await store.list()), '')
      },
    )

    behaves('a create leaves an item as it is that is there already', async (store) => {
      const id = newItemId()
      assert.equal(await store.create(id, itemText(id, 10)), true)
      const version = await store.version()
      assert.equal(await store.create(id, itemText(id, 20)), false)
      assert.deepEqual(await store.read(id), itemText(id, 10))
      assert.equal(await store.version(), version)
    })

    behaves('replaces and deletes only the expected item', async (store) => {
      const id = newItemId()
      const [one, same, other] = [itemText(id, 10), itemText(id, 10), itemText(id, 10, 'y')]
      assert.equal(await store.replace(id, other, one), 'absent')
      assert.equal(await store.delete(id, one), 'absent')
      await store.create(id, one)
      const version = await store.version()
      assert.equal(await store.replace(id, itemText(id, 20), other), 'unexpected')
      assert.equal(await store.delete(id, other), 'unexpected')
      assert.deepEqual(await store.read(id), one)
      assert.equal(await store.version(), version)
      assert.equal(await store.replace(id, other, same), 'done')
      assert.deepEqual(await store.read(id), other)
      assert.equal(await store.delete(id, other), 'done')
      assert.equal(await store.read(id), undefined)
    })

    behaves('of many who replace what they have read, one at a time succeeds', async (store) => {
      const id = newItemId()
      const numbered = (number: number) => itemText(id, 10, String(number).padStart(4))
      await store.create(id, numbered(0))
      const succeeded: number[] = []
      await Promise.all(
        Array.from({ length: 8 }, async (_, place) => {
          for (let time = 0; time < 5; time += 1) {
            const read = await store.read(id)
            const text = numbered(10 * place + time + 1)
            const outcome = await store.replace(id, text, read)
            if (outcome === 'done') succeeded.push(10 * place + time + 1)
            else assert.equal(outcome, 'unexpected')
          }
        }),
      )
      assert.ok(succeeded.length > 0)
      const found = await store.read(id)
      assert.ok(succeeded.some((number) => found?.equals(numbered(number))))
    })

    behaves(
      'each change makes another version, which a list has from before its first item',
      async (store) => {
        const seen = new Set([await store.version()])
        assert.equal(await store.version(), [...seen][0])
        const [id, other] = [newItemId(), newItemId()]
        for (const change of [
          () => store.create(id, itemText(id, 10)),
          () => store.replace(id, itemText(id, 10)),
          () => store.create(other, itemText(other, 5)),
          () => store.delete(id),
        ]) {
          await change()
          const { version, release } = await store.list()
          release()
          assert.equal(version, await store.version())
          assert.match(version, /^[\x21\x23-\x7e]+$/)
          seen.add(version)
        }
        assert.equal(seen.size, 5)
      },
    )

    behaves(
      'whoever watches an item, or all, is called after each change, and no longer than it wants',
      async (store) => {
        const [id, other] = [newItemId(), newItemId()]
        let [ofItem, ofAny] = [0, 0]
        const unwatchItem = store.watch(id, () => {
          ofItem += 1
        })
        const unwatchAny = store.watch(undefined, () => {
          ofAny += 1
        })
        const changes = [
          () => store.create(id, itemText(id, 10)),
          () => store.replace(id, itemText(id, 20)),
          () => store.delete(id),
          () => store.create(other, itemText(other, 10)),
          () => store.clear(),
        ]
        for (const change of changes) {
          const [before, beforeAny] = [ofItem, ofAny]
          await change()
          assert.ok(ofAny > beforeAny)
          if (change !== changes[3]) assert.ok(ofItem > before)
        }
        unwatchItem()
        unwatchAny()
        const [before, beforeAny] = [ofItem, ofAny]
        await store.create(id, itemText(id, 10))
        assert.deepEqual([ofItem, ofAny], [before, beforeAny])
      },
    )

    const uses = [
      { title: 'unread', isRead: false, isWhole: false },
      { title: 'half read', isRead: true, isWhole: false },
      { title: 'read to its end', isRead: true, isWhole: true },
    ]
    for (const { title, isRead, isWhole } of uses) {
      behaves(
        `a list ${title} that is released again and again takes nothing from others`,
        async (store) => {
          const items = new ListedItems(store.guarantees)
          const ids = await filled(store, items, 60)
          const [released, other] = [await store.list(), await store.list()]
          const check = items.listed()
          if (isRead) for await (const _chunk of released.chunks) if (!isWhole) break
          for (let time = 0; time < 3; time += 1) released.release()
          await change(store, items, ids)
          released.release()
          await filled(store, items, 60)
          check(await textOf(other))
          released.release()
          const checkNow = items.listed()
          checkNow(await textOf(await store.list()))
        },
      )
    }

    test('any sequence of operations agrees with a simple model', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(operation, { maxLength: 80 }), async (operations) => {
          const store = await create()
          const items = new ListedItems(store.guarantees)
          const known: ItemId[] = []
          const open: { list: ItemList; check: (text: string) => void }[] = []
          const read: { item: Buffer; expected: string }[] = []
          for (const { kind, pick, length } of operations) {
            const id = kind === 'create' ? newItemId() : (known[pick % known.length] ?? newItemId())
            const item = itemText(id, length, String(pick % 10))
            switch (kind) {
              case 'create':
                await store.create(id, item)
                items.set(id, item.toString())
                known.push(id)
                break
              case 'replace':
                assert.equal(await store.replace(id, item), items.texts.has(id) ? 'done' : 'absent')
                if (items.texts.has(id)) items.set(id, item.toString())
                break
              case 'delete':
                assert.equal(await store.delete(id), items.texts.has(id) ? 'done' : 'absent')
                items.set(id, undefined)
                break
              case 'read': {
                const [found, expected] = [await store.read(id), items.texts.get(id)]
                assert.equal(found?.toString(), expected)
                if (found && expected) read.push({ item: found, expected })
                break
              }
              case 'list':
                open.push({ list: await store.list(), check: items.listed() })
                break
              case 'drain': {
                const [one] = open.splice(pick % (open.length + 1), 1)
                one?.check(await textOf(one.list))
              }
            }
            const { items: count, itemBytes } = await store.size()
            assert.equal(count, items.texts.size)
            assert.equal(itemBytes, Buffer.byteLength([...items.texts.values()].join('')))
          }
          for (const { list, check } of open) check(await textOf(list))
          for (const { item, expected } of read) assert.equal(item.toString(), expected)
          for (const id of known) {
            assert.equal((await store.read(id))?.toString(), items.texts.get(id))
          }
          const check = items.listed()
          check(await textOf(await store.list()))
          await store.close()
        }),
        { numRuns: runs },
      )
    })
  })
}

/** Creates items. @returns their ids. */
async function filled(store: ItemStore, items: ListedItems, count: number): Promise<ItemId[]> {
  const ids = Array.from({ length: count }, newItemId)
  for (const id of ids) {
    await store.create(id, itemText(id, 40))
    items.set(id, itemText(id, 40).toString())
  }
  return ids
}

/** Of every three items, replaces one, deletes one, and leaves one as it is. */
async function change(store: ItemStore, items: ListedItems, ids: ItemId[]): Promise<void> {
  for (const [place, id] of ids.entries()) {
    const item = itemText(id, 200, 'y')
    if (place % 3 === 0) await store.replace(id, item)
    if (place % 3 === 1) await store.delete(id)
    if (place % 3 < 2) items.set(id, place % 3 === 0 ? item.toString() : undefined)
  }
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

/** Tests a store with a limit. @param create creates an empty store that may hold `maxBytes`. */
export function describeFullStore(create: (maxBytes: number) => ItemStore): void {
  test('a full store refuses more, still reads and deletes, and deleting makes room', async () => {
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
    assert.equal(await store.healthy(), true)
    assert.ok(held > 100 && held < 500, `${held} items of 250 bytes in 100,000`)
    assert.equal((await store.size()).items, held)

    const [first, second, third] = ids
    assert.ok(first && second && third)
    await assert.rejects(async () => store.replace(first, itemText(first, 50_000)), full)
    assert.deepEqual(await store.read(first), itemText(first, 200))
    assert.equal(await store.replace(first, itemText(first, 100)), 'done')
    assert.equal(await store.replace(first, itemText(first, 100, 'y')), 'done')
    assert.deepEqual(await store.read(first), itemText(first, 100, 'y'))

    for (const id of ids.slice(0, held)) assert.equal(await store.delete(id), 'done')
    held = 0
    await assert.rejects(fill, full)
    assert.ok(held > 100, `${held} items after everything was deleted`)
  })
}
