/** Finds blocks by extendible hashing of ids, because a large `Map` blocks the event loop while it grows. @module */

import type { ItemId } from '../../item/id.js'
import { StoreError } from '../item-store.js'

export interface Table {
  /** Slots for linear probing. Each has a hash and a block's number plus one or, if it's empty, two zeros. */
  words: Int32Array
  size: number
  depth: number // low bits that all its hashes share
}

const slotWords = 2
const slotBits = 11
const tableWords = slotWords << slotBits // 16 KiB
const maxSize = 1024 // with half of the slots empty, a search takes 1 or 2 steps
const maxDepth = 20 // reached at 500 million items
const noWords = new Int32Array(tableWords) // of all empty tables
const mixer = 0x9e3779b1 // 2^32 divided by the golden ratio (Knuth, The Art of Computer Programming, section 6.4)

/** An entry for each item: the hash of its id, and the number of its block. */
export class ItemIndex {
  /** Tables by the last bits of a hash. All but the deepest are in this array several times. */
  tables: Table[] = [{ words: noWords, size: 0, depth: 0 }]

  /** Calls `look` with the number of each block that has an item with the hash, until it returns a result. */
  find<T>(hash: number, look: (block: number) => T | undefined): T | undefined {
    const { words } = this.#tableOf(hash)
    for (let slot = homeSlot(hash); ; slot = nextSlot(slot)) {
      const taken = at(words, slot + 1)
      if (taken === 0) return undefined
      const found = at(words, slot) === hash ? look(taken - 1) : undefined
      if (found !== undefined) return found
    }
  }

  /** Ensures that `add` has room for one more entry with this hash. @throws {StoreError | RangeError} otherwise. */
  needRoom(hash: number): void {
    while (this.#tableOf(hash).size === maxSize) this.#split(hash)
    const table = this.#tableOf(hash)
    if (table.words === noWords) table.words = newWords()
  }

  /** Adds an entry. The caller must call `needRoom` first. */
  add(hash: number, block: number): void {
    put(this.#tableOf(hash), hash, block + 1)
  }

  /** Changes the block of an entry. */
  move(hash: number, from: number, to: number): void {
    const { words } = this.#tableOf(hash)
    words[slotOf(words, hash, from) + 1] = to + 1
  }

  remove(hash: number, block: number): void {
    const table = this.#tableOf(hash)
    emptySlot(table.words, slotOf(table.words, hash, block))
    table.size -= 1
    if (table.size === 0) table.words = noWords // frees its memory
  }

  #tableOf(hash: number): Table {
    return this.tables[hash & (this.tables.length - 1)] as Table // never undefined: the index is valid
  }

  /** Splits a full table: moves the entries whose next bit is 1 to a new one, usually half, but maybe none or all. */
  #split(hash: number): void {
    const table = this.#tableOf(hash)
    const { words, depth } = table
    if (depth === maxDepth) {
      throw new StoreError('STORE_FULL', 'The store is full: it cannot keep track of more items')
    }
    const [own, others] = [newWords(), newWords()]
    const bit = 1 << depth
    if (bit === this.tables.length) this.tables = this.tables.concat(this.tables)
    Object.assign(table, { words: own, size: 0, depth: depth + 1 })
    const other = { words: others, size: 0, depth: depth + 1 }
    const first = (hash & (bit - 1)) | bit
    for (let place = first; place < this.tables.length; place += 2 * bit) this.tables[place] = other
    for (let slot = 0; slot < tableWords; slot += slotWords) {
      const [moved, taken] = [at(words, slot), at(words, slot + 1)]
      if (taken !== 0) put((moved & bit) === 0 ? table : other, moved, taken)
    }
    for (const each of [table, other]) if (each.size === 0) each.words = noWords
  }
}

/** Returns a 32-bit hash of an id. Clients cannot choose ids, so they cannot make hashes collide. */
export function hashOf(id: ItemId): number {
  let hash = 0
  // Skips the dashes at positions 8, 13, 18 and 23.
  for (const start of [0, 4, 9, 14, 19, 24, 28, 32]) {
    hash = Math.imul(hash ^ fourDigits(id, start), mixer)
  }
  return hash ^ (hash >>> 15)
}

function put(table: Table, hash: number, taken: number): void {
  const { words } = table
  let slot = homeSlot(hash)
  while (words[slot + 1] !== 0) slot = nextSlot(slot)
  words[slot] = hash
  words[slot + 1] = taken
  table.size += 1
}

/** Returns the slot of an entry, which must exist. */
function slotOf(words: Int32Array, hash: number, block: number): number {
  let slot = homeSlot(hash)
  while (words[slot] !== hash || words[slot + 1] !== block + 1) slot = nextSlot(slot)
  return slot
}

/** Empties a slot so that searches still work (Knuth, The Art of Computer Programming, algorithm 6.4R). */
function emptySlot(words: Int32Array, emptied: number): void {
  const mask = tableWords - 1
  let gap = emptied
  for (let slot = nextSlot(gap); words[slot + 1] !== 0; slot = nextSlot(slot)) {
    const home = homeSlot(at(words, slot))
    // Moves the entry if a search from `home` reaches the gap before `slot`.
    if (((slot - home) & mask) >= ((slot - gap) & mask)) {
      words[gap] = at(words, slot)
      words[gap + 1] = at(words, slot + 1)
      gap = slot
    }
  }
  words[gap] = 0
  words[gap + 1] = 0
}

/** Returns the slot where a search begins. It depends on high bits, because a table's hashes share their low ones. */
function homeSlot(hash: number): number {
  return (Math.imul(hash, mixer) >>> (32 - slotBits)) * slotWords
}

function nextSlot(slot: number): number {
  return (slot + slotWords) & (tableWords - 1)
}

function newWords(): Int32Array {
  return new Int32Array(tableWords)
}

function fourDigits(id: ItemId, start: number): number {
  return (
    (digit(id.charCodeAt(start)) << 12) |
    (digit(id.charCodeAt(start + 1)) << 8) |
    (digit(id.charCodeAt(start + 2)) << 4) |
    digit(id.charCodeAt(start + 3))
  )
}

/** Returns the value of a hexadecimal digit in lower case. */
function digit(code: number): number {
  return (code & 0xf) + (code >>> 6) * 9
}

function at(words: Int32Array, place: number): number {
  return words[place] as number // never undefined: callers pass valid positions
}
