/** Records with the id and block number of each item, in typed arrays outside the JavaScript heap. @module */

import { allocate } from '../../memory/mapped.js'
import { outOfMemory, StoreError } from '../item-store.js'

/** Identifies a record until `release`: a page number and a position in the page, in 32 bits. */
export type Handle = number

const placeBits = 12
/** Records in a page, which takes 80 KiB: too little for a memory mapping of its own. */
export const pageRecords = 1 << placeBits
/** Maximum number of pages: each handle plus one must fit in 32 bits. */
export const handlePages = 2 ** (32 - placeBits) - 1

const idWords = 4
const recordWords = idWords + 1

export interface Page {
  readonly number: number
  /** Five words for each record: its id in four, then its block's number. Empty if none is in use. */
  words: Uint32Array
  free: number // first free record; each ends with the distance to the next, minus one
  size: number
}

const noWords = new Uint32Array(0)

export class Records {
  readonly pages: Page[] = []
  /** Pages with free records. An empty one keeps its memory only while it's the last. */
  readonly #withRoom: Page[] = []

  /** Ensures that `take` can return one more record. @throws {StoreError} `STORE_FULL` */
  needRoom(): void {
    const page = this.#withRoom.at(-1) ?? this.#newPage()
    if (page.words === noWords) {
      page.words = allocate(() => new Uint32Array(pageRecords * recordWords), outOfMemory)
    }
  }

  /** Takes a free record. The caller must call `needRoom` first, and `setBlock` afterwards. */
  take(id: Uint32Array): Handle {
    const page = this.#withRoom.at(-1) as Page // never undefined: `needRoom` has made room
    const place = page.free
    page.free = (place + 1 + at(page.words, blockAt(place))) | 0
    page.size += 1
    if (page.size === pageRecords) this.#withRoom.pop()
    page.words.set(id, place * recordWords)
    return (page.number << placeBits) | place
  }

  /** Frees a record. Another item may get the same handle afterwards. */
  release(handle: Handle): void {
    const page = this.#pageOf(handle)
    const place = placeOf(handle)
    if (page.size === pageRecords) this.#withRoom.splice(-1, 0, page)
    page.words[blockAt(place)] = page.free - place - 1
    page.free = place
    page.size -= 1
    if (page.size === 0 && page !== this.#withRoom.at(-1)) {
      Object.assign(page, { words: noWords, free: 0 }) // frees the memory of a page without records
    }
  }

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
    return this.pages[handle >>> placeBits] as Page // never undefined: every handle has the number of a page
  }

  #newPage(): Page {
    const number = this.pages.length
    if (number >= handlePages) {
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

export function at(array: Uint32Array, place: number): number {
  return array[place] as number // never undefined: callers pass valid positions
}
