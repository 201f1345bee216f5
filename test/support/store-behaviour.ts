/** Tests of the contract that every store has to meet. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { type ItemId, newItemId } from '../../src/item/id.js'
import type { EncodedItem } from '../../src/item/item.js'
import type { Awaitable, ItemList, ItemStore } from '../../src/store/item-store.js'
import { ListedItems } from './listed-items.js'
import { until } from './until.js'

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

/** @param create opens an empty store with room for at least 1 MB. @param runs number of random sequences. */
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
      'a watcher of one item or of all items is called after each change, until the watch ends',
      async (store) => {
        const [id, other] = [newItemId(), newItemId()]
        let [ofItem, ofAny] = [0, 0]
        const unwatchItem = store.watch({ id }, () => {
          ofItem += 1
        })
        const unwatchAny = store.watch({ project: undefined }, () => {
          ofAny += 1
        })
        const changes = [
          () => store.create(id, itemText(id, 10)),
          () => store.replace(id, itemText(id, 20)),
          () => store.delete(id),
          () => store.create(other, itemText(other, 10)),
          ...(store.clear === undefined ? [] : [() => store.clear?.()]),
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

    behaves(
      'a watcher of a project is called after each change of its items, and a list of the project has no others',
      async (store) => {
        const [own, other] = ['shop', 'workshop']
        const [id, another] = [newItemId(), newItemId()]
        let calls = 0
        store.watch({ project: own }, () => {
          calls += 1
        })
        const text = (itemId: ItemId, project: string, fill: string) =>
          encoded(`{"id":"${itemId}","project_id":"${project}","a":"${fill}"}`)
        const changes: [string, () => Awaitable<unknown>, string[]][] = [
          ['created', () => store.create(id, text(id, own, '1')), [id]],
          ['replaced', () => store.replace(id, text(id, own, '22')), [id]],
          ['moved out', () => store.replace(id, text(id, other, '2')), []],
          ['moved in', () => store.replace(id, text(id, own, '3'.repeat(500))), [id]],
          ['another', () => store.create(another, text(another, own, '1')), [id, another]],
          ['deleted', () => store.delete(id), [another]],
          ['the last deleted', () => store.delete(another), []],
        ]
        if (store.clear !== undefined) changes.push(['all deleted', () => store.clear?.(), []])
        const filler = Array.from({ length: 50 }, newItemId)
        for (const each of filler) await store.create(each, text(each, other, 'x'.repeat(200)))
        for (const [title, change, expected] of changes) {
          const [before, version] = [calls, await store.version(own)]
          await change()
          await until(`a call: ${title}`, () => calls > before)
          if (title !== 'all deleted') assert.notEqual(await store.version(own), version, title)
          const list = await store.list(own)
          assert.equal(list.version, await store.version(own))
          const items: { id: string }[] = JSON.parse(`[${await textOf(list)}]`)
          assert.deepEqual(items.map((item) => item.id).sort(), expected.toSorted(), title)
        }
      },
    )

    for (const part of ['unread', 'half read', 'read to its end']) {
      behaves(
        `releasing a list that is ${part} several times does not affect other lists`,
        async (store) => {
          const ids = Array.from({ length: 60 }, newItemId)
          const items = new ListedItems(store.guarantees)
          const write = async (id: ItemId, item: EncodedItem) => {
            if (!(await store.create(id, item))) await store.replace(id, item)
            items.set(id, item.toString())
          }
          for (const id of ids) await write(id, itemText(id, 40))
          const [released, other] = [await store.list(), await store.list()]
          const check = items.listed()
          if (part !== 'unread')
            for await (const _chunk of released.chunks) if (part === 'half read') break
          for (let time = 0; time < 3; time += 1) released.release()
          for (const id of ids) await write(id, itemText(id, 200, 'y'))
          released.release()
          check(await textOf(other))
          const checkNow = items.listed()
          checkNow(await textOf(await store.list()))
        },
      )
    }

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

/** A store, and the items that it should contain after each operation. */
class Model {
  readonly #store: ItemStore
  readonly #items: ListedItems
  /** Ids of all items that exist or have existed. */
  readonly #known: ItemId[] = []
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

  /** Returns `true` if the version must change, `false` if it must not, and `undefined` if it may. */
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
        for (const { list, check } of this.#takeOpen(pick)) check(await textOf(list))
        break
      case 'abandon':
        for (const { list } of this.#takeOpen(pick)) {
          if (pick % 2) for await (const _chunk of list.chunks) break
          list.release()
        }
    }
    return false
  }

  #takeOpen(pick: number) {
    return this.#open.splice(pick % (this.#open.length + 1), 1)
  }

  /** Checks all stored items. Items and lists that were read earlier must not have changed. */
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
