/** Items in process memory, gone when the process ends (spec §1.2). @module */

import {
  type EncodedItem,
  type ItemId,
  type ItemList,
  type ItemStore,
  StoreFullError,
} from './item-store.js'

const comma = Buffer.from(',')

/**
 * A store in the memory of this process.
 * @param maxBytes most bytes that the items may take together.
 */
export function createMemoryStore(maxBytes: number): ItemStore {
  const items = new Map<ItemId, EncodedItem>()
  let bytes = 0

  /** Counts `added` more bytes, if there is room for them. Shrinking is always possible. */
  function reserve(added: number): void {
    if (added > 0 && bytes + added > maxBytes) throw new StoreFullError(maxBytes)
    bytes += added
  }

  return {
    create(id, item) {
      reserve(item.length)
      items.set(id, item)
    },

    read(id) {
      return items.get(id)
    },

    replace(id, item) {
      const old = items.get(id)
      if (old === undefined) return false
      reserve(item.length - old.length)
      items.set(id, item)
      return true
    },

    delete(id) {
      const old = items.get(id)
      if (old === undefined) return false
      bytes -= old.length
      return items.delete(id)
    },

    list() {
      return {
        byteLength: bytes + Math.max(0, items.size - 1),
        chunks: separate([...items.values()]),
      }
    },

    size: () => items.size,
    healthy: () => true,
    close: () => items.clear(),
  }
}

function* separate(items: EncodedItem[]): ItemList['chunks'] & Iterable<Uint8Array> {
  for (const [place, item] of items.entries()) {
    if (place > 0) yield comma
    yield item
  }
}
