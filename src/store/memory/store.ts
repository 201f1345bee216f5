/**
 * Items in process memory, gone when the process ends (spec §1.2): pages with the bytes of the list
 * in the order of creation, and an index from ids to pages.
 *
 * @module
 */

import { type EncodedItem, type ItemStore, StoreError } from '../item-store.js'
import { type Frame, FramePool } from './frames.js'
import { type Handle, ItemIndex } from './item-index.js'
import { Page } from './page.js'

/**
 * Bytes of a page. With more, taking an item out moves more; with less, a list has more pieces.
 */
const defaultPageBytes = 64 * 1024

/** What an item takes beside its text, in bytes: its share of index, tables and empty room. */
const itemOverhead = 64

/** An item that takes more than this part of a page has one of its own, just as large. */
const largeItem = 1 / 2

/** Room left when items of neighbours are put together, as a part of a page, for them to grow. */
const slack = 1 / 16

/**
 * A store in the memory of this process.
 * @param maxBytes most bytes that the items may take, their share of index and tables included.
 * @param pageBytes bytes of a page.
 */
export function createMemoryStore(maxBytes: number, pageBytes = defaultPageBytes): ItemStore {
  const frames = new FramePool(pageBytes)
  const index = new ItemIndex()
  /** By number. */
  const pages: (Page | undefined)[] = []
  const freeNumbers: number[] = []
  /** The ends of the pages in the order of the list. */
  let first: Page | undefined
  let last: Page | undefined
  let size = 0
  /** Bytes of all texts with their commas. */
  let used = 0

  /** Makes sure that there is room. Taking less than before is always possible. */
  function needRoom(added: number): void {
    if (added > 0 && used + size * itemOverhead + added > maxBytes) {
      throw new StoreError('STORE_FULL', `The store is full: it may hold ${maxBytes} bytes`)
    }
  }

  /** Puts a new page behind another one, or at the start of the list. */
  function insertPage(previous: Page | undefined, needed = pageBytes): Page {
    const page = new Page(freeNumbers.at(-1) ?? pages.length, frames, needed)
    freeNumbers.pop()
    pages[page.number] = page
    const next = previous === undefined ? first : previous.next
    link(previous, page)
    link(page, next)
    return page
  }

  function dropPage(page: Page): void {
    link(page.previous, page.next)
    pages[page.number] = undefined
    freeNumbers.push(page.number)
    page.free()
  }

  function link(page: Page | undefined, next: Page | undefined): void {
    if (page === undefined) first = next
    else page.next = next
    if (next === undefined) last = page
    else next.previous = page
  }

  function isLarge(length: number): boolean {
    return length > pageBytes * largeItem
  }

  /** The page at the end of the list, for an item that takes `length` bytes. */
  function pageForNew(length: number): Page {
    if (isLarge(length)) return insertPage(last, length)
    if (last !== undefined && last.room >= length) return last
    last?.seal()
    return insertPage(last)
  }

  function pageNumbered(number: number): Page {
    return pages[number] as Page // the index only has numbers of pages that are there
  }

  /** @returns whether any item was moved. */
  function moveFromNext(page: Page, next: Page, limit: number): boolean {
    const count = page.takeFromNext(next, limit, (handle) => index.setPage(handle, page.number))
    if (next.count === 0) dropPage(next)
    return count > 0
  }

  /**
   * The page of an item, once it has room for the item to grow or holds nothing else: until then
   * leading items move to the page before, or to a new one.
   */
  function pageForGrown(handle: Handle, growth: number): Page {
    for (;;) {
      const page = pageNumbered(index.pageOf(handle))
      if (page.room >= growth || page.count === 1) return page
      const half = page.half()
      const { previous } = page
      const wasMoved =
        previous !== undefined && moveFromNext(previous, page, Math.min(previous.room, half))
      if (!wasMoved) moveFromNext(insertPage(previous), page, half)
    }
  }

  /** Puts an item on a page of its own, in the place of the one that it has now. */
  function repage(page: Page, handle: Handle, item: EncodedItem): Page {
    const length = item.length + 1
    const own = insertPage(page, isLarge(length) ? length : pageBytes)
    own.append(handle, item)
    index.setPage(handle, own.number)
    dropPage(page)
    return own
  }

  /** Tidies up behind a change, as far as there is memory for it. */
  function tend(page: Page): void {
    try {
      merge(page)
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
    }
  }

  /** Drops a page without items, or puts the items of two pages on one, of three on two. */
  function merge(page: Page): void {
    const { previous, next } = page
    const kept = pageBytes * slack
    if (page.count === 0) {
      dropPage(page)
    } else if (next !== undefined && page.room - kept >= next.used) {
      moveFromNext(page, next, next.used)
    } else if (previous !== undefined && previous.room - kept >= page.used) {
      moveFromNext(previous, page, page.used)
    } else if (next?.next !== undefined && page.room + next.room - 2 * kept >= next.next.used) {
      moveFromNext(page, next, page.room - kept) // not all of it, as it does not fit
      moveFromNext(next, next.next, next.room - kept)
    }
  }

  return {
    guarantees: { isSnapshot: true, isInOrder: true },

    create(id, item) {
      needRoom(item.length + 1 + itemOverhead)
      const page = pageForNew(item.length + 1)
      const handle = index.add(id)
      page.append(handle, item)
      index.setPage(handle, page.number)
      size += 1
      used += item.length + 1
    },

    read(id) {
      const handle = index.find(id)
      if (handle === undefined) return undefined
      return pageNumbered(index.pageOf(handle)).read(handle) as EncodedItem // as it was put there
    },

    replace(id, item) {
      const handle = index.find(id)
      if (handle === undefined) return false
      const growth = item.length + 1 - pageNumbered(index.pageOf(handle)).lengthOf(handle)
      needRoom(growth)
      let page = pageForGrown(handle, growth)
      if (page.count === 1) page = repage(page, handle, item)
      else page.replace(handle, item)
      used += growth
      tend(page)
      return true
    },

    delete(id) {
      const handle = index.find(id)
      if (handle === undefined) return false
      const page = pageNumbered(index.pageOf(handle))
      const length = page.lengthOf(handle)
      page.remove(handle)
      index.remove(handle)
      used -= length
      size -= 1
      tend(page)
      return true
    },

    list() {
      const shared: { frame: Frame; used: number }[] = []
      for (let page = first; page !== undefined; page = page.next) {
        shared.push({ frame: page.share(), used: page.used })
      }
      const byteLength = Math.max(0, used - 1)
      return {
        byteLength,
        chunks: chunksOf(shared, byteLength),
        release() {
          frames.releaseReaders(shared.splice(0).map(({ frame }) => frame))
        },
      }
    },

    size: () => ({ items: size, itemBytes: used - size, pageBytes: frames.bytesInUse }),
    healthy: () => true,

    close() {
      pages.length = 0
      first = undefined
      last = undefined
    },
  }
}

/** The bytes of the list, without the comma behind the last item. */
function* chunksOf(
  shared: readonly { frame: Frame; used: number }[],
  byteLength: number,
): Generator<Buffer, void> {
  let left = byteLength
  for (const { frame, used } of shared) {
    const chunk = frame.bytes.subarray(0, Math.min(used, left))
    left -= chunk.length
    if (chunk.length > 0) yield chunk
  }
}
