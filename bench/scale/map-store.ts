/** A minimal `ItemStore` with a size limit and snapshots, which keeps its texts in a `Map`. */

import type { EncodedItem } from '../../src/item/item.js'
import { type ItemStore, StoreError } from '../../src/store/item-store.js'

const itemOverhead = 150
const itemsInChunk = 256

export function createMapStore(maxBytes: number): ItemStore {
  const texts: Map<string, string> = new Map()
  /** Total length of the texts in bytes, including a comma after each text. */
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
      return Buffer.from(text, 'latin1') as EncodedItem // the bytes that were passed to `create` or `replace`
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
    watch: () => () => undefined, // the scale benchmark has no waiting reads
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
