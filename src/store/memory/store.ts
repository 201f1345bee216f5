/**
 * Items in process memory, gone when the process ends (spec §1.2): pages with the bytes of the list
 * in the order of creation, and an index from ids to pages (docs/storage.md).
 *
 * @module
 */

import { type EncodedItem, type ItemStore, StoreError } from '../item-store.js'
import { Pages } from './pages.js'

/** What an item takes beside its text, in bytes: its share of index, tables and empty room. */
const itemOverhead = 64

export interface MemoryStoreOptions {
  /** Maximum number of pages, which live in the JavaScript heap; unbounded by default. */
  readonly maxPages?: number
  /** Bytes of a page. With more, taking an item out moves more; with less, a list has more pieces. */
  readonly pageBytes?: number
}

/**
 * A store in the memory of this process.
 * @param maxBytes maximum bytes that the items may take, their share of index and tables included.
 */
export function createMemoryStore(maxBytes: number, options: MemoryStoreOptions = {}): ItemStore {
  const { maxPages = Number.POSITIVE_INFINITY, pageBytes = 64 * 1024 } = options
  return storeOf(new Pages({ maxPages, pageBytes }), maxBytes)
}

/** The store of these pages, which tests keep to look into it. */
export function storeOf(given: Pages, maxBytes: number): ItemStore {
  let pages = given
  let size = 0
  /** Bytes of all texts with their commas. */
  let used = 0

  /** Makes sure that there is room. Taking less than before is always possible. */
  function needRoom(added: number): void {
    if (added > 0 && used + size * itemOverhead + added > maxBytes) {
      throw new StoreError('STORE_FULL', `The store is full: it may hold ${maxBytes} bytes`)
    }
  }

  return {
    guarantees: { isSnapshot: true, isInOrder: true },

    create(id, item) {
      const length = item.length + 1
      needRoom(length + itemOverhead)
      pages.index.reserve(id)
      const page = pages.forNew(length)
      page.append(pages.index.add(page.number), item)
      size += 1
      used += length
    },

    read(id) {
      const handle = pages.index.find(id)
      if (handle === undefined) return undefined
      return pages.of(handle).read(handle) as EncodedItem // as it was put there
    },

    replace(id, item) {
      const handle = pages.index.find(id)
      if (handle === undefined) return false
      const length = item.length + 1
      const growth = length - pages.of(handle).lengthOf(handle)
      needRoom(growth)
      const page = pages.forGrown(handle, growth)
      const isLarge = pages.isLarge(length)
      if (page.count === 1 && (isLarge || page.isLarge)) page.rewrite(handle, item, isLarge)
      else page.replace(handle, item)
      used += growth
      if (growth !== 0) pages.tidy(page)
      return true
    },

    delete(id) {
      const handle = pages.index.find(id)
      if (handle === undefined) return false
      const page = pages.of(handle)
      const length = page.lengthOf(handle)
      page.remove(handle)
      pages.index.remove(handle)
      used -= length
      size -= 1
      pages.tidy(page)
      return true
    },

    list: () => pages.versions.list(Math.max(0, used - 1)),

    size: () => ({ items: size, itemBytes: used - size, pageBytes: pages.frames.bytesInUse }),

    clear() {
      pages = pages.emptied() // lists that are being read keep the old ones
      size = 0
      used = 0
    },

    healthy: () => true,

    close() {
      pages = new Pages({ maxPages: 0, pageBytes: 0 })
    },
  }
}
