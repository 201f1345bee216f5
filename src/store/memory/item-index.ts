/** Finds blocks by extendible hashing of ids, because a large `Map` blocks the event loop while it grows. @module */

import type { ItemId } from '../../item/id.js'
import { allocate } from '../../memory/mapped.js'
import { outOfMemory } from '../item-store.js'

export interface Table {
  /** For linear probing: a hash and a block's number plus one, or two zeros. */
  words: Int32Array
  size: number
  depth: number // low bits that all its hashes share
}

const slotWords = 2
const firstSlots = 8
const splitSlots = 2048 // 16 KiB; a full table of this size is split, a smaller one enlarged
const slotsPerItem = 2 // with more than half of the slots empty, a search takes 1 or 2 steps
const maxDepth = 18 // reached at 200 million items; such a table is enlarged, not split
const noWords = new Int32Array(2 * slotWords)
const mixer = 0x9e3779b1 // 2^32 divided by the golden ratio (Knuth, The Art of Computer Programming, section 6.4)

/** An entry for each item: the hash of its id, and the number of its block. */
export class ItemIndex {
  /** Tables by the last bits of a hash. All but the deepest have several entries. */
  tables: Table[] = [{ words: noWords, size: 0, depth: 0 }]

  /** Calls `look` with the number of each block that has an item with the hash, until it returns a result. */
  find<T>(hash: number, look: (block: number) => T | undefined): T | undefined {
    const { words } = this.#tableOf(hash)
    for (let slot = homeSlot(words, hash); ; slot = nextSlot(words, slot)) {
      const taken = at(words, slot + 1)
      if (taken === 0) return undefined
      const found = at(words, slot) === hash ? look(taken - 1) : undefined
      if (found !== undefined) return found
    }
  }

  /** Ensures that `add` has room for one more entry with this hash. @throws {StoreError} `STORE_FULL` */
  needRoom(hash: number): void {
    let table = this.#tableOf(hash)
    while ((table.size + 1) * slotsPerItem * slotWords >= table.words.length) {
      this.#grow(table, hash)
      table = this.#tableOf(hash)
    }
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

  /** Splits or enlarges a full table. A split that moves none or all of the entries leaves a full one. */
  #grow(table: Table, hash: number): void {
    const { words, depth } = table
    const isSplit = words.length === splitSlots * slotWords && depth < maxDepth
    const length = isSplit ? words.length : Math.max(2 * words.length, firstSlots * slotWords)
    const [own, others] = allocate(
      () => [new Int32Array(length), new Int32Array(isSplit ? length : 0)] as const,
      outOfMemory,
    )
    const other = isSplit ? this.#splitOff(table, hash, others) : table
    table.words = own
    table.size = 0
    for (let slot = 0; slot < words.length; slot += slotWords) {
      const [moved, taken] = [at(words, slot), at(words, slot + 1)]
      if (taken !== 0) put((moved & (1 << depth)) === 0 ? table : other, moved, taken)
    }
  }

  /** Makes an empty table for those hashes of `table` whose next bit is 1. */
  #splitOff(table: Table, hash: number, words: Int32Array): Table {
    const bit = 1 << table.depth
    if (bit === this.tables.length) this.tables = this.tables.concat(this.tables)
    table.depth += 1
    const other = { words, size: 0, depth: table.depth }
    const first = (hash & (bit - 1)) | bit
    for (let place = first; place < this.tables.length; place += 2 * bit) this.tables[place] = other
    return other
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
  let slot = homeSlot(words, hash)
  while (words[slot + 1] !== 0) slot = nextSlot(words, slot)
  words[slot] = hash
  words[slot + 1] = taken
  table.size += 1
}

/** Returns the slot of an entry, which must exist. */
function slotOf(words: Int32Array, hash: number, block: number): number {
  let slot = homeSlot(words, hash)
  while (words[slot] !== hash || words[slot + 1] !== block + 1) slot = nextSlot(words, slot)
  return slot
}

/** Empties a slot so that searches still work (Knuth, The Art of Computer Programming, algorithm 6.4R). */
function emptySlot(words: Int32Array, emptied: number): void {
  const mask = words.length - 1
  let gap = emptied
  for (let slot = nextSlot(words, gap); words[slot + 1] !== 0; slot = nextSlot(words, slot)) {
    const home = homeSlot(words, at(words, slot))
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

/** Takes the high bits, because a table's hashes share their low ones. */
function homeSlot(words: Int32Array, hash: number): number {
  const slots = words.length / slotWords
  return (Math.imul(hash, mixer) >>> Math.clz32(slots - 1)) * slotWords
}

function nextSlot(words: Int32Array, slot: number): number {
  return (slot + slotWords) & (words.length - 1)
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
