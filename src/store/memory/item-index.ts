/**
 * The index of the memory store: from an item's id to its record, in hash tables outside of the JavaScript heap.
 * One large `Map` stalls for hundreds of milliseconds when it grows, ends at 2^24 entries and takes three times
 * the memory.
 *
 * The ids that end their first word in the same bits share a table with linear probing. A table that is full is
 * split by one more bit (extendible hashing), so that growing never moves more than 1,024 items. Ids are random
 * (UUID versions 4 and 5), so that their own bits serve as the hash.
 *
 * @module
 */

import type { ItemId } from '../../item/id.js'
import { allocate } from '../../memory/mapped.js'
import { outOfMemory } from '../item-store.js'
import { at, type Handle, Records } from './records.js'

export interface Table {
  /** Handles plus one, at the slot that the id hashes to or after it; 0 is an empty slot. */
  slots: Uint32Array
  /** How many items it has. */
  size: number
  /** How many bits its ids have in common. */
  depth: number
}

const firstSlots = 8
/** A table that is full with so many slots is split: 8 KiB. */
const splitSlots = 2048
/** At least half of the slots are empty, so that a search ends after one or two. */
const slotsPerItem = 2
/** A table of this depth grows instead. Random ids get there when there are 200 million of them. */
const maxDepth = 18
/** The slots of a table without items. A search needs one slot, which stays empty. */
const noSlots = new Uint32Array(1)

export class ItemIndex {
  readonly records: Records
  /** The table for each value of the last bits of an id's first word; the same one for several, if it has fewer bits. */
  tables: Table[] = [{ slots: noSlots, size: 0, depth: 0 }]
  /** The id of the operation at hand, as four words. */
  readonly #id = new Uint32Array(4)

  /** @param maxPages maximum number of pages of records. */
  constructor(maxPages?: number) {
    this.records = new Records(maxPages)
  }

  /** The handle of an item, or `undefined` for an id that is not here. */
  find(id: ItemId): Handle | undefined {
    this.#read(id)
    const { slots } = this.#table()
    const taken = at(slots, this.#slotOf(slots))
    return taken === 0 ? undefined : handleIn(taken)
  }

  /**
   * Makes a record for an id that is not here, without a block yet.
   * @throws {StoreError} `STORE_FULL` when there is no room left, or the system has no memory.
   */
  add(id: ItemId): Handle {
    this.#read(id)
    this.records.needRoom()
    let table = this.#table()
    while ((table.size + 1) * slotsPerItem > table.slots.length) {
      this.#grow(table)
      table = this.#table()
    }
    const handle = this.records.take(this.#id)
    table.slots[this.#slotOf(table.slots)] = handle + 1
    table.size += 1
    return handle
  }

  /** Forgets an item. Its handle may name another one from now on. */
  remove(handle: Handle): void {
    for (let word = 0; word < 4; word += 1) this.#id[word] = this.records.word(handle, word)
    const table = this.#table()
    this.#emptySlot(table.slots, this.#slotOf(table.slots))
    table.size -= 1
    if (table.size === 0) table.slots = noSlots // the memory goes with the last item
    this.records.release(handle)
  }

  /** Takes an id as the one at hand. */
  #read(id: ItemId): void {
    // The dashes stand at 8, 13, 18 and 23.
    this.#id[0] = (digits(id, 0) << 16) | digits(id, 4)
    this.#id[1] = (digits(id, 9) << 16) | digits(id, 14)
    this.#id[2] = (digits(id, 19) << 16) | digits(id, 24)
    this.#id[3] = (digits(id, 28) << 16) | digits(id, 32)
  }

  /** The table for the id at hand. */
  #table(): Table {
    return this.tables[at(this.#id, 0) & (this.tables.length - 1)] as Table // there is one for each value
  }

  /** The slot of the id at hand: the one that leads to its record, or the empty one where a search ends. */
  #slotOf(slots: Uint32Array): number {
    for (let slot = homeSlot(slots, at(this.#id, 3)); ; slot = nextSlot(slots, slot)) {
      const taken = at(slots, slot)
      if (taken === 0 || this.records.isOf(handleIn(taken), this.#id)) return slot
    }
  }

  /** Makes room in the table for the id at hand, unless all of its items stay together when it is split. */
  #grow(table: Table): void {
    const { slots, depth } = table
    const isSplit = slots.length === splitSlots && depth < maxDepth
    const length = isSplit ? splitSlots : Math.max(2 * slots.length, firstSlots)
    const made = allocate(
      () => [new Uint32Array(length), new Uint32Array(isSplit ? length : 0)],
      outOfMemory,
    )
    const [own, others] = made as [Uint32Array, Uint32Array] // two
    const other = isSplit ? this.#splitOff(table, others) : table
    table.slots = own
    table.size = 0
    const bit = 1 << depth
    for (const taken of slots) {
      if (taken === 0) continue
      const handle = handleIn(taken)
      const target = (this.records.word(handle, 0) & bit) === 0 ? table : other
      let slot = homeSlot(target.slots, this.records.word(handle, 3))
      while (target.slots[slot] !== 0) slot = nextSlot(target.slots, slot)
      target.slots[slot] = taken
      target.size += 1
    }
  }

  /** Gives the ids of a table that have a 1 as the next bit another one, still without items. */
  #splitOff(table: Table, slots: Uint32Array): Table {
    const bit = 1 << table.depth
    if (bit === this.tables.length) this.tables = this.tables.concat(this.tables)
    table.depth += 1
    const other = { slots, size: 0, depth: table.depth }
    const first = (at(this.#id, 0) & (bit - 1)) | bit
    for (let place = first; place < this.tables.length; place += 2 * bit) this.tables[place] = other
    return other
  }

  /**
   * Empties a slot, and moves those after it that would not be found any more
   * (Knuth, The Art of Computer Programming, volume 3, algorithm 6.4R).
   */
  #emptySlot(slots: Uint32Array, emptied: number): void {
    const mask = slots.length - 1
    let gap = emptied
    for (let slot = nextSlot(slots, gap); slots[slot] !== 0; slot = nextSlot(slots, slot)) {
      const taken = at(slots, slot)
      const home = homeSlot(slots, this.records.word(handleIn(taken), 3))
      // A search from `home` passes the gap on its way to `slot`.
      if (((slot - home) & mask) >= ((slot - gap) & mask)) {
        slots[gap] = taken
        gap = slot
      }
    }
    slots[gap] = 0
  }
}

/** Returns the handle that a slot of the hash table contains. */
function handleIn(taken: number): Handle {
  return (taken - 1) | 0
}

function homeSlot(slots: Uint32Array, hash: number): number {
  return hash & (slots.length - 1)
}

function nextSlot(slots: Uint32Array, slot: number): number {
  return (slot + 1) & (slots.length - 1)
}

/** The number that four hexadecimal digits stand for. */
function digits(id: ItemId, start: number): number {
  return (
    (digit(id.charCodeAt(start)) << 12) |
    (digit(id.charCodeAt(start + 1)) << 8) |
    (digit(id.charCodeAt(start + 2)) << 4) |
    digit(id.charCodeAt(start + 3))
  )
}

/** The value of a digit: 0 to 9 are 0x30 to 0x39, a to f are 0x61 to 0x66. */
function digit(code: number): number {
  return (code & 0xf) + (code >>> 6) * 9
}
