/** Tests of the contract that every store has to meet. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { type ItemId, newItemId } from '../../src/item/id.js'
import type { EncodedItem } from '../../src/item/item.js'
import type { Awaitable, ItemList, ItemStore, Watched } from '../../src/store/item-store.js'
import { ListedItems } from './listed-items.js'

export function itemText(id: ItemId, length: number, fill = 'x'): EncodedItem {
  return encoded(`{"id":"${id}","é":"${fill.repeat(length)}"}`)
}

export async function createItem(store: ItemStore, length = 10): Promise<ItemId> {
  const id = newItemId()
  await store.create(id, itemText(id, length))
  return id
}

export function createItems(store: ItemStore, count: number, length?: number): Promise<ItemId[]> {
  return Promise.all(Array.from({ length: count }, () => createItem(store, length)))
}

export function idsIn(list: string): ItemId[] {
  return (JSON.parse(`[${list}]`) as { id: ItemId }[]).map(({ id }) => id) // every item has an id
}

function encoded(text: string): EncodedItem {
  return Buffer.from(text) as EncodedItem // the text has the format of an encoded item
}

/** Reads and releases a list, checks its `byteLength`, and returns its text. */
export async function textOf(list: ItemList): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of list.chunks) chunks.push(Buffer.from(chunk))
  const whole = Buffer.concat(chunks)
  if (list.byteLength !== undefined) assert.equal(whole.length, list.byteLength)
  list.release()
  return whole.toString()
}

/** @param create opens an empty store with room for at least 1 MB. @param runs number of random operation sequences. */
export function describeStore(name: string, create: () => Awaitable<ItemStore>, runs = 300): void {
  describe(name, () => {
    function behaves(title: string, run: (store: ItemStore) => Promise<void>): void {
      test(title, async () => {
        const store = await create()
        await run(store)
        await store.close()
      })
    }

    behaves('of several replaces that expect the same item, one succeeds', async (store) => {
      const id = await createItem(store)
      const expected = await store.read(id)
      const replaces = [20, 30, 40].map(async (length) =>
        store.replace(id, itemText(id, length), expected),
      )
      const outcomes = await Promise.all(replaces)
      assert.deepEqual(outcomes.toSorted(), ['done', 'unexpected', 'unexpected'])
    })

    behaves(
      'watchers of an item, of its project and of all items are called after each change, until the watch ends',
      async (store) => {
        const [id, another] = [newItemId(), newItemId()]
        const [own, other] = ['shop', 'workshop']
        const text = (itemId: ItemId, project: string, fill: string) =>
          encoded(`{"id":"${itemId}","project_id":"${project}","a":"${fill}"}`)
        const changes: [string, () => Awaitable<unknown>, string[]][] = [
          ['created', () => store.create(id, text(id, own, '1')), [id, another]],
          ['replaced', () => store.replace(id, text(id, own, '22')), [id, another]],
          ['moved out', () => store.replace(id, text(id, other, '2')), [another]],
          ['moved in', () => store.replace(id, text(id, own, '3'.repeat(500))), [id, another]],
          ['deleted', () => store.delete(id), [another]],
          ['another deleted', () => store.delete(another), []],
        ]
        if (store.clear !== undefined) changes.push(['all deleted', () => store.clear?.(), []])
        const filler = Array.from({ length: 50 }, newItemId)
        for (const each of filler) await store.create(each, text(each, other, 'x'.repeat(200)))
        await store.create(another, text(another, own, '1'))

        const calls = { item: 0, project: 0, all: 0 }
        const watch = (name: keyof typeof calls, watched: Watched) =>
          store.watch(watched, () => {
            calls[name] += 1
          })
        const unwatch = [
          watch('item', { id }),
          watch('project', { project: own }),
          watch('all', { project: undefined }),
        ]
        for (const [title, change, expected] of changes) {
          const [before, version] = [{ ...calls }, await store.version(own)]
          await change()
          assert.ok(calls.all > before.all, title)
          if (title !== 'another deleted') assert.ok(calls.item > before.item, title)
          assert.ok(calls.project > before.project, title)
          assert.notEqual(await store.version(own), version, title)
          const list = await store.list(own)
          assert.equal(list.version, await store.version(own))
          assert.deepEqual(idsIn(await textOf(list)).sort(), expected.toSorted(), title)
        }
        for (const end of unwatch) end()
        const before = { ...calls }
        await store.create(id, text(id, own, '1'))
        assert.deepEqual(calls, before)
      },
    )

    test('the store agrees with a simple model after any sequence of operations', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(operation, { maxLength: 80 }), async (operations) => {
          const store = await create()
          const model = new Model(store)
          for (const operation of operations) await model.apply(operation)
          await model.assertContent()
          await store.close()
        }),
        { numRuns: runs },
      )
    })
  })
}

const kinds =
  'create create create create create create replace replace replace delete read list list drain abandon clear'

/** A random operation. `list` opens a list, and a later `drain` or `abandon` closes it. */
const operation = fc.record({
  kind: fc.constantFrom(...kinds.split(' ')),
  pick: fc.nat(1000),
  length: fc.oneof(fc.nat(60), fc.nat(1200)),
  expects: fc.constantFrom('any', 'any', 'the one there', 'another'),
})

type Operation = typeof operation extends fc.Arbitrary<infer T> ? T : never

class Model {
  readonly #store: ItemStore
  readonly #items: ListedItems
  readonly #known: ItemId[] = [] // of all items that exist or have existed
  readonly #read: { item: Buffer; expected: string }[] = []
  readonly #open: { list: ItemList; check: (text: string) => void }[] = []

  constructor(store: ItemStore) {
    this.#store = store
    this.#items = new ListedItems(store.guarantees)
  }

  async apply(operation: Operation): Promise<void> {
    const version = await this.#store.version()
    const isChanged = await this.#apply(operation)
    const [next, { items, itemBytes }] = [await this.#store.version(), await this.#store.size()]
    assert.match(next, /^[\x21\x23-\x7e]+$/)
    if (isChanged !== undefined) assert.equal(next !== version, isChanged)
    const texts = [...this.#items.texts.values()]
    assert.equal(items, texts.length)
    assert.equal(itemBytes, Buffer.byteLength(texts.join('')))
    assert.equal(await this.#store.healthy(), true)
  }

  /** Applies an operation. Returns whether the store's version must change; `undefined` if it may or may not. */
  async #apply({ kind, pick, length, expects }: Operation): Promise<boolean | undefined> {
    const isNew = kind === 'create' && pick % 8 > 0
    const id = (isNew ? undefined : this.#known[pick % this.#known.length]) ?? newItemId()
    const present = this.#items.texts.get(id)
    const project = `"project_id":"${pick % 3}"`
    const item = encoded(`{"id":"${id}",${project},"é":"${String(pick % 10).repeat(length)}"}`)
    const other = itemText(id, 1300, '-') // longer than any item, so it equals no item
    const expected = (expects === 'the one there' && (await this.#store.read(id))) || other
    const condition = expects === 'any' ? [] : [expected]
    const outcome = present === undefined ? 'absent' : expects === 'another' ? 'unexpected' : 'done'
    switch (kind) {
      case 'create':
        this.#known.push(id)
        assert.equal(await this.#store.create(id, item), present === undefined)
        if (present === undefined) this.#items.set(id, item.toString())
        return present === undefined
      case 'replace':
        assert.equal(await this.#store.replace(id, item, ...condition), outcome)
        if (outcome === 'done') this.#items.set(id, item.toString())
        return outcome === 'done'
      case 'delete':
        assert.equal(await this.#store.delete(id, ...condition), outcome)
        if (outcome === 'done') this.#items.set(id, undefined)
        return outcome === 'done'
      case 'clear':
        if (this.#store.clear === undefined) return false
        this.#store.clear()
        for (const each of [...this.#items.texts.keys()]) this.#items.set(each, undefined)
        return undefined
      case 'read': {
        const found = await this.#store.read(id)
        assert.equal(found?.toString(), present)
        if (found && present) this.#read.push({ item: found, expected: present })
        break
      }
      case 'list': {
        const ofProject = pick % 2 === 0 ? undefined : String(pick % 3)
        const list = await this.#store.list(ofProject)
        assert.equal(list.version, await this.#store.version(ofProject))
        const isWanted = (text: string) => ofProject === undefined || text.includes(project)
        this.#open.push({ list, check: this.#items.listed(isWanted) })
        break
      }
      case 'drain':
        for (const { list, check } of this.#takeOpen(pick)) {
          check(await textOf(list))
          list.release() // a second release must not affect other lists
        }
        break
      case 'abandon':
        for (const { list } of this.#takeOpen(pick)) {
          if (pick % 2) for await (const _chunk of list.chunks) break
          for (const _time of [1, 2]) list.release()
        }
    }
    return false
  }

  #takeOpen(pick: number) {
    return this.#open.splice(pick % (this.#open.length + 1), 1)
  }

  /** Checks all stored items, and checks that items and lists read earlier have not changed. */
  async assertContent(): Promise<void> {
    for (const { list, check } of this.#open) check(await textOf(list))
    for (const { item, expected } of this.#read) assert.equal(item.toString(), expected)
    for (const id of this.#known) {
      assert.equal((await this.#store.read(id))?.toString(), this.#items.texts.get(id))
    }
    const check = this.#items.listed()
    check(await textOf(await this.#store.list()))
  }
}
