/** Maps ids to records by extendible hashing, because a large `Map` blocks the event loop while it grows. @module */

import type { ItemId } from '../../item/id.js'
import { allocate } from '../../memory/mapped.js'
import { outOfMemory } from '../item-store.js'
import { at, type Handle, Records } from './records.js'

export interface Table {
  slots: Uint32Array // for linear probing: a handle plus one, or 0
  size: number
  depth: number // low bits that the first words of all its ids share
}

const firstSlots = 8
const splitSlots = 2048 // 8 KiB; a full table of this size is split, a smaller one enlarged
const slotsPerItem = 2 // with half of the slots empty, a search takes 1 or 2 steps
const maxDepth = 18 // reached at 200 million items; such a table is enlarged, not split
const noSlots = new Uint32Array(1)

export class ItemIndex {
  readonly records = new Records()
  /** Tables by the last bits of an id's first word. All but the deepest have several entries. */
  tables: Table[] = [{ slots: noSlots, size: 0, depth: 0 }]
  readonly #id = new Uint32Array(4) // of the current operation's item

  find(id: ItemId): Handle | undefined {
    this.#setId(id)
    const { slots } = this.#table()
    const taken = at(slots, this.#slotOf(slots))
    return taken === 0 ? undefined : handleIn(taken)
  }

  /** Adds a record for an id. The caller must then set the record's block. @throws {StoreError} `STORE_FULL` */
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

  /** Removes an item. Another one may get its handle later. */
  remove(handle: Handle): void {
    for (let word = 0; word < 4; word += 1) this.#id[word] = this.records.word(handle, word)
    const table = this.#table()
    this.#emptySlot(table.slots, this.#slotOf(table.slots))
    table.size -= 1
    if (table.size === 0) table.slots = noSlots // frees its memory
    this.records.release(handle)
  }

  #setId(id: ItemId): void {
    // Skips the dashes at positions 8, 13, 18 and 23.
    this.#id[0] = (fourDigits(id, 0) << 16) | fourDigits(id, 4)
    this.#id[1] = (fourDigits(id, 9) << 16) | fourDigits(id, 14)
    this.#id[2] = (fourDigits(id, 19) << 16) | fourDigits(id, 24)
    this.#id[3] = (fourDigits(id, 28) << 16) | fourDigits(id, 32)
  }

  #table(): Table {
    return this.tables[at(this.#id, 0) & (this.tables.length - 1)] as Table // never undefined: the index is valid
  }

  /** Returns the slot of the current id, or the empty one where the search ends. */
  #slotOf(slots: Uint32Array): number {
    for (let slot = homeSlot(slots, at(this.#id, 3)); ; slot = nextSlot(slots, slot)) {
      const taken = at(slots, slot)
      if (taken === 0 || this.records.isOf(handleIn(taken), this.#id)) return slot
    }
  }

  /** Splits or enlarges a full table. A split that moves none or all of the items leaves a full one. */
  #grow(table: Table): void {
    const { slots, depth } = table
    const isSplit = slots.length === splitSlots && depth < maxDepth
    const length = isSplit ? splitSlots : Math.max(2 * slots.length, firstSlots)
    const [own, others] = allocate(
      () => [new Uint32Array(length), new Uint32Array(isSplit ? length : 0)] as const,
      outOfMemory,
    )
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

  /** Makes an empty table for those ids of `table` whose next bit is 1. */
  #splitOff(table: Table, slots: Uint32Array): Table {
    const bit = 1 << table.depth
    if (bit === this.tables.length) this.tables = this.tables.concat(this.tables)
    table.depth += 1
    const other = { slots, size: 0, depth: table.depth }
    const first = (at(this.#id, 0) & (bit - 1)) | bit
    for (let place = first; place < this.tables.length; place += 2 * bit) this.tables[place] = other
    return other
  }

  /** Empties a slot so that searches still work (Knuth, The Art of Computer Programming, algorithm 6.4R). */
  #emptySlot(slots: Uint32Array, emptied: number): void {
    const mask = slots.length - 1
    let gap = emptied
    for (let slot = nextSlot(slots, gap); slots[slot] !== 0; slot = nextSlot(slots, slot)) {
      const taken = at(slots, slot)
      const home = homeSlot(slots, this.records.word(handleIn(taken), 3))
      // Moves the entry if a search from `home` reaches the gap before `slot`.
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

/** Returns the value of a hexadecimal digit in lower case. */
function digit(code: number): number {
  return (code & 0xf) + (code >>> 6) * 9
}
