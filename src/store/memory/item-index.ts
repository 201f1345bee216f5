/**
 * The index of the memory store: from an item's id to its page, in typed arrays outside of the
 * JavaScript heap. One large `Map` stalls for hundreds of milliseconds when it grows, ends at 2^24
 * entries and takes three times the memory.
 *
 * Ids are spread over 256 shards by their first byte, so that growing moves only a 256th of them
 * at a time. In a shard every item has a record, which never moves, and a hash table with linear
 * probing leads from the id to the record. Ids are random (UUID version 4), so that their own bits
 * serve as the hash.
 *
 * @module
 */

import type { ItemId } from '../item-store.js'

/** Names the record of an item, from `add` until `remove`. */
export type Handle = number

interface Shard {
  /** Record numbers plus one, at the slot that the id hashes to or behind it; 0 is an empty slot. */
  slots: Uint32Array
  /** The columns of the records: the id as four words, and the number of the page. */
  ids: Uint32Array
  pages: Uint32Array
  /** How many records were ever used. */
  used: number
  /** First of the records that are free again, plus one; `pages` leads to the next. 0 for none. */
  free: number
  /** How many records are taken. */
  size: number
}

const shardBits = 8
const firstRecords = 8
/** At least half of the slots are empty, so that a search ends after one or two. */
const slotsPerRecord = 2

/** The value of each hexadecimal digit, by its character code. */
const digitValues = new Uint8Array(128)
for (let value = 0; value < 16; value += 1) digitValues[value.toString(16).charCodeAt(0)] = value

export class ItemIndex {
  readonly #shards = Array.from({ length: 1 << shardBits }, newShard)
  /** The id of the operation at hand, as four words. */
  readonly #id = new Uint32Array(4)

  /** The handle of an item, or `undefined` for an id that is not here. */
  find(id: ItemId): Handle | undefined {
    const shardNumber = this.#read(id)
    const shard = this.#shard(shardNumber)
    const record = at(shard.slots, this.#slotOf(shard)) - 1
    return record < 0 ? undefined : handleOf(shardNumber, record)
  }

  /** Makes a record for an id that is not here yet. Its page is to be set. */
  add(id: ItemId): Handle {
    const shardNumber = this.#read(id)
    const shard = this.#shard(shardNumber)
    if (shard.free === 0 && shard.used === shard.pages.length) grow(shard)
    let record = shard.used
    if (shard.free === 0) {
      shard.used += 1
    } else {
      record = shard.free - 1
      shard.free = at(shard.pages, record)
    }
    shard.size += 1
    shard.ids.set(this.#id, record * 4)
    shard.slots[this.#slotOf(shard)] = record + 1
    return handleOf(shardNumber, record)
  }

  /** Forgets an item. Its handle may name another one from now on. */
  remove(handle: Handle): void {
    const shard = this.#shard(shardOf(handle))
    const record = recordOf(handle)
    this.#id.set(shard.ids.subarray(record * 4, record * 4 + 4))
    emptySlot(shard, this.#slotOf(shard))
    shard.pages[record] = shard.free
    shard.free = record + 1
    shard.size -= 1
    // The memory of a shard that has grown goes when its last item goes.
    if (shard.size === 0) this.#shards[shardOf(handle)] = newShard()
  }

  pageOf(handle: Handle): number {
    return at(this.#shard(shardOf(handle)).pages, recordOf(handle))
  }

  setPage(handle: Handle, page: number): void {
    this.#shard(shardOf(handle)).pages[recordOf(handle)] = page
  }

  #shard(number: number): Shard {
    return this.#shards[number] as Shard // every value of a byte has one
  }

  /** Takes an id as the one at hand, and returns the number of its shard. */
  #read(id: ItemId): number {
    // The dashes stand at 8, 13, 18 and 23.
    this.#id[0] = (digits(id, 0) << 16) | digits(id, 4)
    this.#id[1] = (digits(id, 9) << 16) | digits(id, 14)
    this.#id[2] = (digits(id, 19) << 16) | digits(id, 24)
    this.#id[3] = (digits(id, 28) << 16) | digits(id, 32)
    return at(this.#id, 0) >>> (32 - shardBits)
  }

  /** The slot of the id at hand: the one that leads to its record, or the empty one where it ends. */
  #slotOf(shard: Shard): number {
    const { slots, ids } = shard
    const id = this.#id
    for (let slot = homeSlot(slots, at(id, 3)); ; slot = nextSlot(slots, slot)) {
      const first = (at(slots, slot) - 1) * 4
      const isHere =
        first < 0 ||
        (ids[first + 3] === id[3] &&
          ids[first + 2] === id[2] &&
          ids[first + 1] === id[1] &&
          ids[first] === id[0])
      if (isHere) return slot
    }
  }
}

function newShard(): Shard {
  return {
    slots: new Uint32Array(firstRecords * slotsPerRecord),
    ids: new Uint32Array(firstRecords * 4),
    pages: new Uint32Array(firstRecords),
    used: 0,
    free: 0,
    size: 0,
  }
}

/** Makes room for half as many records again. */
function grow(shard: Shard): void {
  const records = Math.ceil(shard.pages.length * 1.5)
  shard.ids = enlarged(shard.ids, records * 4)
  shard.pages = enlarged(shard.pages, records)
  const needed = records * slotsPerRecord
  if (needed > shard.slots.length) {
    // A power of two, so that a mask finds the home slot.
    shard.slots = new Uint32Array(2 ** Math.ceil(Math.log2(needed)))
    for (let record = 0; record < shard.used; record += 1) {
      let slot = homeSlot(shard.slots, at(shard.ids, record * 4 + 3))
      while (shard.slots[slot] !== 0) slot = nextSlot(shard.slots, slot)
      shard.slots[slot] = record + 1
    }
  }
}

function enlarged(column: Uint32Array, length: number): Uint32Array {
  const larger = new Uint32Array(length)
  larger.set(column)
  return larger
}

/**
 * Empties a slot, and moves those behind it that would not be found any more
 * (Knuth, The Art of Computer Programming, volume 3, algorithm 6.4R).
 */
function emptySlot({ slots, ids }: Shard, emptied: number): void {
  let gap = emptied
  for (let slot = nextSlot(slots, gap); slots[slot] !== 0; slot = nextSlot(slots, slot)) {
    const record = at(slots, slot)
    const home = homeSlot(slots, at(ids, (record - 1) * 4 + 3))
    const mask = slots.length - 1
    // A search from `home` passes the gap on its way to `slot`.
    if (((slot - home) & mask) >= ((slot - gap) & mask)) {
      slots[gap] = record
      gap = slot
    }
  }
  slots[gap] = 0
}

function homeSlot(slots: Uint32Array, hash: number): number {
  return hash & (slots.length - 1)
}

function nextSlot(slots: Uint32Array, slot: number): number {
  return (slot + 1) & (slots.length - 1)
}

function handleOf(shard: number, record: number): Handle {
  return ((record << shardBits) | shard) >>> 0
}

function shardOf(handle: Handle): number {
  return handle & ((1 << shardBits) - 1)
}

function recordOf(handle: Handle): number {
  return handle >>> shardBits
}

/** The number that four hexadecimal digits stand for. */
function digits(id: ItemId, start: number): number {
  return (
    (at(digitValues, id.charCodeAt(start)) << 12) |
    (at(digitValues, id.charCodeAt(start + 1)) << 8) |
    (at(digitValues, id.charCodeAt(start + 2)) << 4) |
    at(digitValues, id.charCodeAt(start + 3))
  )
}

/** An element that is known to be there. */
function at(array: Uint32Array | Uint8Array, place: number): number {
  return array[place] as number // all places are within the columns
}
