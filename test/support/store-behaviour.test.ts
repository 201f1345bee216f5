/** The tests of stores hold a store to what it guarantees, and to no more. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newItemId } from '../../src/item/id.js'
import type { EncodedItem, ItemId, ItemStore, ListGuarantees } from '../../src/store/item-store.js'
import { ListedItems } from './listed-items.js'
import { describeStore } from './store-behaviour.js'

/** A store as one over the network may be: nothing at once, no order, no moment, no known length. */
function createLooseStore(): ItemStore {
  const items = new Map<ItemId, EncodedItem>()
  const soon = async <T>(make: () => T): Promise<T> => {
    await null
    return make()
  }
  return {
    guarantees: { isSnapshot: false, isInOrder: false },
    create: (id, item) => soon(() => void items.set(id, item)),
    read: (id) => soon(() => items.get(id)),
    replace: (id, item) => soon(() => items.has(id) && items.set(id, item).size > 0),
    delete: (id) => soon(() => items.delete(id)),
    list: () =>
      soon(() => {
        const ids = [...items.keys()].toSorted()
        return {
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
        return { items: items.size, itemBytes, pageBytes: itemBytes }
      }),
    clear: () => soon(() => items.clear()),
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
  { shows: 'the moment', texts: [text(kept), text(replaced), text(deleted)] },
  {
    shows: 'the moment in another order',
    texts: [text(replaced), text(kept), text(deleted)],
    breaks: exact,
  },
  {
    shows: 'a later moment',
    texts: [text(kept), text(replaced, 'y'), text(created)],
    breaks: exact,
  },
  { shows: 'less than the moment', texts: [text(kept), text(replaced)], breaks: exact },
  { shows: 'not what was there all the while', texts: [text(replaced)], breaks: loose },
  {
    shows: 'an item twice',
    texts: [text(kept), text(replaced), text(replaced, 'y')],
    breaks: loose,
  },
  { shows: 'what never was', texts: [text(kept, 'z'), text(replaced)], breaks: loose },
]
for (const { shows, texts, breaks } of lists) {
  for (const guarantees of [loose, exact]) {
    const isRefused = breaks === loose || breaks === guarantees
    test(`a list that shows ${shows} is ${isRefused ? 'refused' : 'taken'} by ${JSON.stringify(guarantees)}`, () => {
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
