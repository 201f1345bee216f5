/** The tests of stores hold a store to what it guarantees, and to no more. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newItemId } from '../../src/item/id.js'
import type {
  ChangeOutcome,
  EncodedItem,
  ItemId,
  ItemStore,
  ListGuarantees,
} from '../../src/store/item-store.js'
import { Watchers } from '../../src/store/watchers.js'
import { ListedItems } from './listed-items.js'
import { describeStore } from './store-behaviour.js'

/** A store like one across the network: every operation is asynchronous, and lists have no order, no snapshot and no known length. */
function createLooseStore(): ItemStore {
  const items = new Map<ItemId, EncodedItem>()
  const soon = async <T>(make: () => T): Promise<T> => {
    await null
    return make()
  }
  let changes = 0
  const watchers = new Watchers()
  function changed(id: ItemId | undefined, _done: unknown): true {
    changes += 1
    watchers.call(id)
    return true
  }
  function outcome(
    id: ItemId,
    expected: EncodedItem | undefined,
    change: () => true,
  ): ChangeOutcome {
    const present = items.get(id)
    if (present === undefined) return 'absent'
    if (expected !== undefined && !present.equals(expected)) return 'unexpected'
    return change() && 'done'
  }
  return {
    guarantees: { isSnapshot: false, isInOrder: false },
    namespace: '00000000-0000-0000-0000-000000000000',
    create: (id, item) => soon(() => !items.has(id) && changed(id, items.set(id, item))),
    read: (id) => soon(() => items.get(id)),
    replace: (id, item, expected) =>
      soon(() => outcome(id, expected, () => changed(id, items.set(id, item)))),
    delete: (id, expected) =>
      soon(() => outcome(id, expected, () => changed(id, items.delete(id)))),
    version: () => soon(() => String(changes)),
    watch: (id, callback) => watchers.add(id, callback),
    list: () =>
      soon(() => {
        const ids = [...items.keys()].toSorted()
        return {
          version: String(changes),
          byteLength: undefined,
          chunks: (async function* () {
            let separator = ''
            for (const id of ids) {
              const item = items.get(id)
              if (item === undefined) continue
              await null
              yield Buffer.from(`${separator}${item}`)
              separator = ','
            }
          })(),
          release: () => undefined,
        }
      }),
    size: () =>
      soon(() => {
        const itemBytes = [...items.values()].reduce((sum, { length }) => sum + length, 0)
        return { items: items.size, itemBytes, memoryBytes: itemBytes }
      }),
    clear: () => soon(() => void changed(undefined, items.clear())),
    healthy: () => soon(() => true),
    close: () => soon(() => items.clear()),
  }
}

describeStore('a store that guarantees little', createLooseStore)

const loose: ListGuarantees = { isSnapshot: false, isInOrder: false }
const exact: ListGuarantees = { isSnapshot: true, isInOrder: true }
const [kept, replaced, deleted, created] = Array.from({ length: 4 }, newItemId) as [
  ...(readonly [ItemId, ItemId, ItemId, ItemId]), // as many as were made
]
const text = (id: ItemId, fill = 'x') => `{"id":"${id}","é":"${fill}"}`

const lists = [
  { does: 'shows the moment', texts: [text(kept), text(replaced), text(deleted)] },
  {
    does: 'shows the moment in another order',
    texts: [text(replaced), text(kept), text(deleted)],
    breaks: exact,
  },
  {
    does: 'shows a later moment',
    texts: [text(kept), text(replaced, 'y'), text(created)],
    breaks: exact,
  },
  { does: 'shows less than the moment', texts: [text(kept), text(replaced)], breaks: exact },
  { does: 'omits an item present throughout', texts: [text(replaced)], breaks: loose },
  {
    does: 'shows an item twice',
    texts: [text(kept), text(replaced), text(replaced, 'y')],
    breaks: loose,
  },
  { does: 'shows what never was', texts: [text(kept, 'z'), text(replaced)], breaks: loose },
]
for (const { does, texts, breaks } of lists) {
  for (const guarantees of [loose, exact]) {
    const isRefused = breaks === loose || breaks === guarantees
    test(`a list that ${does} is ${isRefused ? 'refused' : 'accepted'} by ${JSON.stringify(guarantees)}`, () => {
      const items = new ListedItems(guarantees)
      for (const id of [kept, replaced, deleted]) items.set(id, text(id))
      const check = items.listed()
      items.set(replaced, text(replaced, 'y'))
      items.set(deleted, undefined)
      items.set(created, text(created))
      if (isRefused) assert.throws(() => check(texts.join(',')), assert.AssertionError)
      else check(texts.join(','))
    })
  }
}
