/**
 * All pages, in the order of the list, and where each item lies: a page that gets too full gives
 * items to its neighbours, pages that get too empty are put together.
 *
 * @module
 */

import { StoreError } from '../item-store.js'
import { FramePool } from './frames.js'
import { type Handle, ItemIndex } from './item-index.js'
import { entryBytes, Page } from './page.js'
import { Versions } from './versions.js'

/** An item that takes more than this part of a page is a large one, with a page of its own. */
const largeItem = 1 / 2

/** Room left when items of neighbours are put together, as a part of a page, for them to grow. */
const slack = 1 / 16

export interface PagesOptions {
  /** Bytes of a page. */
  readonly pageBytes: number
  /** Maximum number of pages. */
  readonly maxPages: number
  /** Maximum number of items in a shard of the index. */
  readonly maxRecords?: number
}

export class Pages {
  readonly frames: FramePool
  readonly versions: Versions
  readonly index: ItemIndex
  /** The ends of the pages in the order of the list. */
  first: Page | undefined
  last: Page | undefined
  readonly byNumber: (Page | undefined)[] = []
  readonly freeNumbers: number[] = []
  readonly #options: PagesOptions

  constructor(options: PagesOptions) {
    const { pageBytes, maxPages, maxRecords } = options
    this.#options = options
    this.frames = new FramePool(Math.ceil(pageBytes / 4) * 4) // whole words
    this.versions = new Versions(this.frames, maxPages)
    this.index = new ItemIndex(maxRecords)
  }

  /** New ones with the same options. */
  emptied(): Pages {
    return new Pages(this.#options)
  }

  /** Whether an item that takes `length` bytes is a large one. */
  isLarge(length: number): boolean {
    return length + entryBytes > this.frames.size * largeItem
  }

  /** The page of an item. */
  of(handle: Handle): Page {
    return this.byNumber[this.index.pageOf(handle)] as Page // every item has one
  }

  /**
   * The page at the end of the list, ready for an item that takes `length` bytes.
   * @throws {StoreError} `STORE_FULL`
   */
  forNew(length: number): Page {
    const { last } = this
    if (this.isLarge(length)) return this.#insert(last, length)
    if (last === undefined || last.room < length + entryBytes) return this.#insert(last)
    last.extend()
    return last
  }

  /**
   * The page of an item, once it has room for the item to grow or holds nothing else: until then
   * leading items move to the page before, or to a new one.
   * @throws {StoreError} `STORE_FULL`; some items may have moved.
   */
  forGrown(handle: Handle, growth: number): Page {
    for (;;) {
      const page = this.of(handle)
      if (page.room >= growth || page.count === 1) return page
      const half = page.half()
      const { previous } = page
      const wasMoved =
        previous !== undefined && this.#moveFromNext(previous, Math.min(previous.room, half))
      if (wasMoved) continue
      page.unshare() // before there is a page to fill
      this.#moveFromNext(this.#insert(previous), half)
    }
  }

  /** Tidies up after a change, as far as there is memory for it. */
  tidy(page: Page): void {
    try {
      this.#merge(page)
    } catch (error) {
      if (!(error instanceof StoreError)) throw error
    }
  }

  /** Drops a page without items, or puts the items of two pages on one, of three on two. */
  #merge(page: Page): void {
    const { previous, next } = page
    const kept = this.frames.size * slack
    if (page.count === 0) {
      this.#drop(page)
    } else if (next !== undefined && page.room - kept >= next.filled) {
      this.#moveFromNext(page, next.filled)
    } else if (previous !== undefined && previous.room - kept >= page.filled) {
      this.#moveFromNext(previous, page.filled)
    } else if (next?.next !== undefined && page.room + next.room - 2 * kept >= next.next.filled) {
      this.#moveFromNext(page, page.room - kept) // not all of it, as it does not fit
      this.#moveFromNext(next, next.room - kept)
    }
  }

  /** @returns whether any item was moved. */
  #moveFromNext(page: Page, limit: number): boolean {
    const { next } = page
    if (next === undefined) return false
    const count = page.takeFromNext(next, limit, (handle) => {
      this.index.setPage(handle, page.number)
    })
    if (next.count === 0) this.#drop(next)
    return count > 0
  }

  /**
   * Puts a new page after another one, or at the start of the list.
   * @param bytes for the page of a large item.
   */
  #insert(previous: Page | undefined, bytes?: number): Page {
    const version = this.versions.insert(previous?.version, bytes)
    const page = new Page(this.freeNumbers.pop() ?? this.byNumber.length, version, this.versions)
    this.byNumber[page.number] = page
    const next = previous === undefined ? this.first : previous.next
    this.#link(previous, page)
    this.#link(page, next)
    return page
  }

  #drop(page: Page): void {
    this.#link(page.previous, page.next)
    this.byNumber[page.number] = undefined
    this.freeNumbers.push(page.number)
    this.versions.drop(page.version)
  }

  #link(page: Page | undefined, next: Page | undefined): void {
    if (page === undefined) this.first = next
    else page.next = next
    if (next === undefined) this.last = page
    else next.previous = page
  }
}
