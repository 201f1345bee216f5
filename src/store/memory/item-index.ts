/** Finds blocks by hashes of ids, in many small tables, because a large one blocks the event loop while it grows. @module */

import type { ItemId } from '../../item/id.js'

export interface Table {
  /** Slots for linear probing. Each has a hash and a block's number plus one or, if it's empty, two zeros. */
  words: Int32Array
  size: number
}

const slotWords = 2
const tableBits = 10
const maxLoad = 3 / 4 // of a table's slots are taken, so that a search takes few steps
const firstSlots = 8
const noWords = new Int32Array(slotWords) // of all empty tables
export const mixer = 0x9e3779b1 // 2^32 divided by the golden ratio (Knuth, The Art of Computer Programming, section 6.4)

/** An entry for each item: the hash of its id, and the number of its block. */
export class ItemIndex {
  /** By the last bits of a hash. At ten million items, a table takes 0.2 ms to grow. */
  readonly tables: readonly Table[] = Array.from({ length: 1 << tableBits }, () => ({
    words: noWords,
    size: 0,
  }))

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

  /** Ensures that `add` has room for one more entry with this hash. @throws {RangeError} if no memory is left. */
  needRoom(hash: number): void {
    const table = this.#tableOf(hash)
    const { words, size } = table
    if ((size + 1) * slotWords <= words.length * maxLoad) return
    const larger = new Int32Array(Math.max(2 * words.length, firstSlots * slotWords))
    for (let slot = 0; slot < words.length; slot += slotWords) {
      const taken = at(words, slot + 1)
      if (taken !== 0) put(larger, at(words, slot), taken)
    }
    table.words = larger
  }

  /** Adds an entry. The caller must call `needRoom` first. */
  add(hash: number, block: number): void {
    const table = this.#tableOf(hash)
    put(table.words, hash, block + 1)
    table.size += 1
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
    return this.tables[hash & (this.tables.length - 1)] as Table // never undefined: there is one for all last bits
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

function put(words: Int32Array, hash: number, taken: number): void {
  let slot = homeSlot(words, hash)
  while (words[slot + 1] !== 0) slot = nextSlot(words, slot)
  words[slot] = hash
  words[slot + 1] = taken
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

/** Returns the slot where a search begins. It depends on high bits, because a table's hashes share their low ones. */
function homeSlot(words: Int32Array, hash: number): number {
  return ((hash >>> tableBits) * slotWords) & (words.length - 1)
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
