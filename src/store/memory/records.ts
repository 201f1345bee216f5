/**
 * Records: the id of each item with the number of its block, in typed arrays outside of the JavaScript heap.
 *
 * They are in pages of one size, so that making room takes the same time however many there are. A record never
 * moves: its handle names the item while that moves from block to block.
 *
 * @module
 */

import { allocate } from '../../memory/mapped.js'
import { outOfMemory, StoreError } from '../item-store.js'

/** Names a record, from `take` until `release`: the number of its page and its place there, in 32 bits. */
export type Handle = number

const placeBits = 12
/** Records of a page: 80 KiB, below what the C library maps by itself. */
export const pageRecords = 1 << placeBits
/** Pages whose handles plus one fit in 32 bits. */
export const handlePages = 2 ** (32 - placeBits) - 1

const idWords = 4
const recordWords = idWords + 1

export interface Page {
  readonly number: number
  /** The records: each the id as four words, and the number of the block. Empty while none is taken. */
  words: Uint32Array
  /**
   * Place of the first free record, {@link pageRecords} for none. In place of the block, a free record has how far
   * behind its neighbour the next free one is: zero in new memory, where all are free.
   */
  free: number
  /** How many records are taken. */
  size: number
}

const noWords = new Uint32Array(0)

export class Records {
  readonly pages: Page[] = []
  /** Pages with room. Records are taken from the last one, which alone keeps its memory without any. */
  readonly #withRoom: Page[] = []
  readonly #maxPages: number

  /** @param maxPages maximum number of pages. */
  constructor(maxPages = handlePages) {
    this.#maxPages = maxPages
  }

  /**
   * Makes room for another record.
   * @throws {StoreError} `STORE_FULL` when there is none left, or the system has no memory.
   */
  needRoom(): void {
    const page = this.#withRoom.at(-1) ?? this.#newPage()
    if (page.words === noWords) {
      page.words = allocate(() => new Uint32Array(pageRecords * recordWords), outOfMemory)
    }
  }

  /** Takes a record, for which there is room, for an id that has no block yet. */
  take(id: Uint32Array): Handle {
    const page = this.#withRoom.at(-1) as Page // there is room
    const place = page.free
    page.free = (place + 1 + at(page.words, blockAt(place))) | 0
    page.size += 1
    if (page.size === pageRecords) this.#withRoom.pop()
    page.words.set(id, place * recordWords)
    return (page.number << placeBits) | place
  }

  /** Its handle may name another record from now on. */
  release(handle: Handle): void {
    const page = this.#pageOf(handle)
    const place = placeOf(handle)
    if (page.size === pageRecords) this.#withRoom.splice(-1, 0, page)
    page.words[blockAt(place)] = page.free - place - 1
    page.free = place
    page.size -= 1
    if (page.size === 0 && page !== this.#withRoom.at(-1)) {
      Object.assign(page, { words: noWords, free: 0 }) // the memory goes with its last record
    }
  }

  /** One of the four words of the id. */
  word(handle: Handle, number: number): number {
    return at(this.#pageOf(handle).words, placeOf(handle) * recordWords + number)
  }

  isOf(handle: Handle, id: Uint32Array): boolean {
    const { words } = this.#pageOf(handle)
    const start = placeOf(handle) * recordWords
    return (
      words[start + 3] === id[3] &&
      words[start + 2] === id[2] &&
      words[start + 1] === id[1] &&
      words[start] === id[0]
    )
  }

  blockOf(handle: Handle): number {
    return at(this.#pageOf(handle).words, blockAt(placeOf(handle)))
  }

  setBlock(handle: Handle, block: number): void {
    this.#pageOf(handle).words[blockAt(placeOf(handle))] = block
  }

  #pageOf(handle: Handle): Page {
    return this.pages[handle >>> placeBits] as Page // handles come from pages
  }

  #newPage(): Page {
    const number = this.pages.length
    if (number >= this.#maxPages) {
      throw new StoreError('STORE_FULL', 'The store is full: it cannot keep track of more items')
    }
    const page = { number, words: noWords, free: 0, size: 0 }
    this.pages.push(page)
    this.#withRoom.push(page)
    return page
  }
}

function placeOf(handle: Handle): number {
  return handle & (pageRecords - 1)
}

function blockAt(place: number): number {
  return place * recordWords + idWords
}

/** An element that is known to be there. */
export function at(array: Uint32Array, place: number): number {
  return array[place] as number // all places are within the arrays
}
