/**
 * Items in process memory, gone when the process ends (spec §1.2): blocks with the bytes of the list
 * in the order of creation, and an index from ids to blocks (docs/explanation/storage.md).
 *
 * @module
 */

import { type EncodedItem, type ItemStore, StoreError } from '../item-store.js'
import { Blocks } from './blocks.js'

/** What an item takes beside its text, in bytes: its share of index, tables and empty room. */
const itemOverhead = 64

export interface MemoryStoreOptions {
  /** Maximum number of blocks, which have objects in the JavaScript heap; unbounded by default. */
  readonly maxBlocks?: number
  /** Bytes of a block. With more, taking an item out moves more; with less, a list has more pieces. */
  readonly blockBytes?: number
}

/**
 * A store in the memory of this process.
 * @param maxBytes maximum bytes that the items may take, their share of index and tables included.
 */
export function createMemoryStore(maxBytes: number, options: MemoryStoreOptions = {}): ItemStore {
  const { maxBlocks = Number.POSITIVE_INFINITY, blockBytes = 64 * 1024 } = options
  return storeOf(new Blocks({ maxBlocks, blockBytes }), maxBytes)
}

/** The store of these blocks, which tests keep to look into it. */
export function storeOf(given: Blocks, maxBytes: number): ItemStore {
  let blocks = given
  let size = 0
  /** Bytes of all texts with their commas. */
  let used = 0

  /** Makes sure that there is room. Taking less than before is always possible. */
  function needRoom(added: number): void {
    if (added > 0 && used + size * itemOverhead + added > maxBytes) {
      throw new StoreError('STORE_FULL', `The store is full: it may hold ${maxBytes} bytes`)
    }
  }

  function clear(): void {
    blocks = new Blocks(blocks.options) // lists that are being read keep the old ones
    size = 0
    used = 0
  }

  return {
    guarantees: { isSnapshot: true, isInOrder: true },

    create(id, item) {
      needRoom(item.length + 1 + itemOverhead)
      blocks.add(id, item)
      size += 1
      used += item.length + 1
    },

    read(id) {
      const place = blocks.find(id)
      return place?.block.read(place.position) as EncodedItem | undefined // as it was put there
    },

    replace(id, item) {
      const place = blocks.find(id)
      if (place === undefined) return false
      const growth = item.length + 1 - place.block.lengthOf(place.position)
      needRoom(growth)
      blocks.replace(place, item)
      used += growth
      return true
    },

    delete(id) {
      const place = blocks.find(id)
      if (place === undefined) return false
      const length = place.block.lengthOf(place.position)
      blocks.remove(place)
      size -= 1
      used -= length
      return true
    },

    list: () => blocks.chain.list(Math.max(0, used - 1)),

    size: () => ({ items: size, itemBytes: used - size, memoryBytes: blocks.frames.bytesInUse }),

    clear,

    healthy: () => true,

    close: clear,
  }
}
