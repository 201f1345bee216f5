/**
 * Index of the memory store from ids to records, in hash tables outside of the JavaScript heap. A large `Map` would
 * stall for hundreds of milliseconds when it grows, have at most 2^24 entries and take three times the memory.
 *
 * Ids whose first words end in the same bits share a table with linear probing. A full table is split by one more bit
 * (extendible hashing), so that growth never moves more than 1,024 items. Ids are random UUIDs, so parts of an id serve
 * as its hash.
 *
 * @module
 */

import type { ItemId } from '../../item/id.js'
import { allocate } from '../../memory/mapped.js'
import { outOfMemory } from '../item-store.js'
import { at, type Handle, Records } from './records.js'

export interface Table {
  /** Slots, each with a handle plus one, or 0 if empty. The search for a handle begins at the slot of its id's hash. */
  slots: Uint32Array
  size: number
  /** Number of low bits that the first words of all ids in the table have in common. */
  depth: number
}

const firstSlots = 8
/** Number of slots (8 KiB) at which a full table is split instead of enlarged. */
const splitSlots = 2048
/** Minimum number of slots for each item. At least half of the slots are empty, so a search takes one or two steps. */
const slotsPerItem = 2
/** Depth at which a table is enlarged instead of split. Tables reach this depth at 200 million items. */
const maxDepth = 18
/** Slots of a table without items. The only slot stays empty, so that a search ends. */
const noSlots = new Uint32Array(1)

export class ItemIndex {
  readonly records: Records
  /** Tables by the last bits of an id's first word. A table with a lower depth is in several entries. */
  tables: Table[] = [{ slots: noSlots, size: 0, depth: 0 }]
  /** The id of the current operation, as four words. */
  readonly #id = new Uint32Array(4)

  /** @param maxPages maximum number of pages of records. */
  constructor(maxPages?: number) {
    this.records = new Records(maxPages)
  }

  find(id: ItemId): Handle | undefined {
    this.#setId(id)
    const { slots } = this.#table()
    const taken = at(slots, this.#slotOf(slots))
    return taken === 0 ? undefined : handleIn(taken)
  }

  /**
   * Makes a record for a new id. Afterwards, the caller must set the number of the item's block.
   * @throws {StoreError} `STORE_FULL` if all handles are in use, or if the system has no memory left.
   */
  add(id: ItemId): Handle {
    this.#setId(id)
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

  /** Removes an item from the index. Another item may get the same handle afterwards. */
  remove(handle: Handle): void {
    for (let word = 0; word < 4; word += 1) this.#id[word] = this.records.word(handle, word)
    const table = this.#table()
    this.#emptySlot(table.slots, this.#slotOf(table.slots))
    table.size -= 1
    if (table.size === 0) table.slots = noSlots // frees the memory of a table without items
    this.records.release(handle)
  }

  #setId(id: ItemId): void {
    // A UUID has dashes at positions 8, 13, 18 and 23.
    this.#id[0] = (fourDigits(id, 0) << 16) | fourDigits(id, 4)
    this.#id[1] = (fourDigits(id, 9) << 16) | fourDigits(id, 14)
    this.#id[2] = (fourDigits(id, 19) << 16) | fourDigits(id, 24)
    this.#id[3] = (fourDigits(id, 28) << 16) | fourDigits(id, 32)
  }

  /** Returns the table for the id of the current operation. */
  #table(): Table {
    return this.tables[at(this.#id, 0) & (this.tables.length - 1)] as Table // never undefined: the index is valid
  }

  /** Returns the slot of the current operation's id, or the empty slot at which the search for this id ends. */
  #slotOf(slots: Uint32Array): number {
    for (let slot = homeSlot(slots, at(this.#id, 3)); ; slot = nextSlot(slots, slot)) {
      const taken = at(slots, slot)
      if (taken === 0 || this.records.isOf(handleIn(taken), this.#id)) return slot
    }
  }

  /** Splits or enlarges a full table. If a split moves no item or all items, one of the two tables is still full. */
  #grow(table: Table): void {
    const { slots, depth } = table
    const isSplit = slots.length === splitSlots && depth < maxDepth
    const length = isSplit ? splitSlots : Math.max(2 * slots.length, firstSlots)
    const made = allocate(
      () => [new Uint32Array(length), new Uint32Array(isSplit ? length : 0)],
      outOfMemory,
    )
    const [own, others] = made as [Uint32Array, Uint32Array] // the callback returns two arrays
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

  /** Makes an empty table for the ids that have a 1 as the next bit, and enters the new table into `tables`. */
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
   * Empties a slot, and fills the gap with later entries that a search would otherwise no longer find (Knuth, The Art
   * of Computer Programming, volume 3, algorithm 6.4R).
   */
  #emptySlot(slots: Uint32Array, emptied: number): void {
    const mask = slots.length - 1
    let gap = emptied
    for (let slot = nextSlot(slots, gap); slots[slot] !== 0; slot = nextSlot(slots, slot)) {
      const taken = at(slots, slot)
      const home = homeSlot(slots, this.records.word(handleIn(taken), 3))
      // The entry moves into the gap, because a search from `home` reaches the gap before `slot`.
      if (((slot - home) & mask) >= ((slot - gap) & mask)) {
        slots[gap] = taken
        gap = slot
      }
    }
    slots[gap] = 0
  }
}

function handleIn(taken: number): Handle {
  return (taken - 1) | 0
}

function homeSlot(slots: Uint32Array, hash: number): number {
  return hash & (slots.length - 1)
}

function nextSlot(slots: Uint32Array, slot: number): number {
  return (slot + 1) & (slots.length - 1)
}

function fourDigits(id: ItemId, start: number): number {
  return (
    (digit(id.charCodeAt(start)) << 12) |
    (digit(id.charCodeAt(start + 1)) << 8) |
    (digit(id.charCodeAt(start + 2)) << 4) |
    digit(id.charCodeAt(start + 3))
  )
}

/**
 * Returns the value of a hexadecimal digit. The digits 0 to 9 have the codes 0x30 to 0x39, the letters 0x61 to 0x66.
 */
function digit(code: number): number {
  return (code & 0xf) + (code >>> 6) * 9
}
