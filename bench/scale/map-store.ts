/**
 * The comparison store of the scale run: the shortest implementation of `ItemStore` (src/store/item-store.ts), with a
 * limit in bytes and lists that show a single moment. The texts are strings in a `Map`, with a character for each byte,
 * so that the same bytes come back.
 */

import type { EncodedItem } from '../../src/item/item.js'
import { type ItemStore, StoreError } from '../../src/store/item-store.js'

const itemOverhead = 150
const itemsInChunk = 256

/** @param maxBytes limit for the items, in bytes */
export function createMapStore(maxBytes: number): ItemStore {
  const texts: Map<string, string> = new Map()
  /** Total size of the texts in bytes, plus one byte per text for a comma. */
  let used = 0
  let changes = 0

  function needRoom(added: number) {
    if (added > 0 && used + texts.size * itemOverhead + added > maxBytes) {
      throw new StoreError('STORE_FULL', 'The store is full')
    }
  }

  function clear() {
    texts.clear()
    used = 0
  }

  return {
    guarantees: { isSnapshot: true, isInOrder: true },

    namespace: '00000000-0000-0000-0000-000000000000',

    create(id, item) {
      if (texts.has(id)) return false
      needRoom(item.length + 1 + itemOverhead)
      texts.set(id, item.toString('latin1'))
      used += item.length + 1
      changes += 1
      return true
    },

    read(id) {
      const text = texts.get(id)
      if (text === undefined) return undefined
      return Buffer.from(text, 'latin1') as EncodedItem // the bytes that were given
    },

    replace(id, item, expected) {
      const text = texts.get(id)
      if (text === undefined) return 'absent'
      if (expected && expected.toString('latin1') !== text) return 'unexpected'
      const growth = item.length - text.length
      needRoom(growth)
      texts.set(id, item.toString('latin1'))
      used += growth
      changes += 1
      return 'done'
    },

    delete(id, expected) {
      const text = texts.get(id)
      if (text === undefined) return 'absent'
      if (expected && expected.toString('latin1') !== text) return 'unexpected'
      texts.delete(id)
      used -= text.length + 1
      changes += 1
      return 'done'
    },

    list() {
      let moment = [...texts.values()]
      return {
        version: String(changes),
        byteLength: Math.max(0, used - 1),
        chunks: chunksOf(moment),
        release() {
          moment = []
        },
      }
    },

    version: () => String(changes),
    watch: () => () => undefined, // the scale run has no waiting reads
    size() {
      const usedBytes = used + texts.size * itemOverhead
      const itemBytes = used - texts.size
      return { items: texts.size, itemBytes, memoryBytes: used, usedBytes, maxBytes }
    },
    clear,
    healthy: () => true,
    close: clear,
  }
}

function* chunksOf(texts: string[]) {
  for (let start = 0; start < texts.length; start += itemsInChunk) {
    const chunk = texts.slice(start, start + itemsInChunk).join(',')
    yield Buffer.from(start === 0 ? chunk : `,${chunk}`, 'latin1')
  }
}
