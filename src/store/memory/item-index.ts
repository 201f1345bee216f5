/**
 * The index of the memory store: from an item's id to its block, in typed arrays outside of the
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

import { type ItemId, StoreError } from '../item-store.js'
import { allocate } from './allocate.js'

/** Names the record of an item, from `add` until `remove`: an integer of 32 bits. */
export type Handle = number

export interface Shard {
  /** Record numbers plus one, at the slot that the id hashes to or after it; 0 is an empty slot. */
  slots: Uint32Array
  /** The records: each the id as four words, and the number of the block. */
  records: Uint32Array
  /** How many records were ever used. */
  used: number
  /** First of the records that are free again, plus one; in place of the block is the next. 0 for none. */
  free: number
  /** How many records are taken. */
  size: number
}

const shardBits = 8
const idWords = 4
const recordWords = idWords + 1
const firstRecords = 8
/** At least half of the slots are empty, so that a search ends after one or two. */
const slotsPerRecord = 2
/** Records of a shard whose handles fit in 32 bits. */
export const handleRecords = 2 ** (32 - shardBits)
/** The arrays of a shard without records. A search needs one slot, which stays empty. */
const noRecords = new Uint32Array(0)
const noSlots = new Uint32Array(1)

export class ItemIndex {
  readonly shards: readonly Shard[] = Array.from({ length: 1 << shardBits }, newShard)
  readonly #maxRecords: number
  /** The id of the operation at hand, as four words. */
  readonly #id = new Uint32Array(4)

  /** @param maxRecords maximum number of records of a shard. */
  constructor(maxRecords = handleRecords) {
    this.#maxRecords = maxRecords
  }

  /** The handle of an item, or `undefined` for an id that is not here. */
  find(id: ItemId): Handle | undefined {
    const shardNumber = this.#read(id)
    const shard = this.#shard(shardNumber)
    const record = at(shard.slots, this.#slotOf(shard)) - 1
    return record < 0 ? undefined : handleOf(shardNumber, record)
  }

  /**
   * Makes a record for an id that is not here, without a block yet.
   * @throws {StoreError} `STORE_FULL` when its shard has no room left, or the system no memory.
   */
  add(id: ItemId): Handle {
    const shardNumber = this.#read(id)
    const shard = this.#shard(shardNumber)
    if (shard.free === 0 && shard.used === capacityOf(shard)) grow(shard, this.#maxRecords)
    let record = shard.used
    if (shard.free === 0) {
      shard.used += 1
    } else {
      record = shard.free - 1
      shard.free = at(shard.records, blockPlace(record))
    }
    shard.size += 1
    shard.records.set(this.#id, record * recordWords)
    shard.slots[this.#slotOf(shard)] = record + 1
    return handleOf(shardNumber, record)
  }

  /** Forgets an item. Its handle may name another one from now on. */
  remove(handle: Handle): void {
    const shard = this.#shard(shardOf(handle))
    const record = recordOf(handle)
    const start = record * recordWords
    for (let word = 0; word < idWords; word += 1) this.#id[word] = at(shard.records, start + word)
    emptySlot(shard, this.#slotOf(shard))
    shard.records[blockPlace(record)] = shard.free
    shard.free = record + 1
    shard.size -= 1
    // The memory of a shard that has grown goes when its last item goes.
    if (shard.size === 0) Object.assign(shard, newShard())
  }

  blockOf(handle: Handle): number {
    return at(this.#shard(shardOf(handle)).records, blockPlace(recordOf(handle)))
  }

  setBlock(handle: Handle, block: number): void {
    this.#shard(shardOf(handle)).records[blockPlace(recordOf(handle))] = block
  }

  #shard(number: number): Shard {
    return this.shards[number] as Shard // every value of a byte has one
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
    const { slots, records } = shard
    const id = this.#id
    for (let slot = homeSlot(slots, at(id, 3)); ; slot = nextSlot(slots, slot)) {
      const first = (at(slots, slot) - 1) * recordWords
      const isHere =
        first < 0 ||
        (records[first + 3] === id[3] &&
          records[first + 2] === id[2] &&
          records[first + 1] === id[1] &&
          records[first] === id[0])
      if (isHere) return slot
    }
  }
}

function newShard(): Shard {
  return { slots: noSlots, records: noRecords, used: 0, free: 0, size: 0 }
}

/** Makes room for half as many records again, up to `maxRecords`. */
function grow(shard: Shard, maxRecords: number): void {
  const capacity = capacityOf(shard)
  const target = Math.min(Math.max(Math.ceil(capacity * 1.5), firstRecords), maxRecords)
  if (target === capacity) {
    throw new StoreError('STORE_FULL', 'The store is full: it cannot keep track of more items')
  }
  // A power of two, so that a mask finds the home slot.
  const slotCount = 2 ** Math.ceil(Math.log2(target * slotsPerRecord))
  const isCrowded = slotCount > shard.slots.length
  const [records, slots] = allocate(() => [
    new Uint32Array(target * recordWords),
    isCrowded ? new Uint32Array(slotCount) : shard.slots,
  ])
  records.set(shard.records)
  shard.records = records
  shard.slots = slots
  if (!isCrowded) return
  for (let record = 0; record < shard.used; record += 1) {
    let slot = homeSlot(slots, hashOf(shard, record))
    while (slots[slot] !== 0) slot = nextSlot(slots, slot)
    slots[slot] = record + 1
  }
}

/**
 * Empties a slot, and moves those after it that would not be found any more
 * (Knuth, The Art of Computer Programming, volume 3, algorithm 6.4R).
 */
function emptySlot(shard: Shard, emptied: number): void {
  const { slots } = shard
  let gap = emptied
  for (let slot = nextSlot(slots, gap); slots[slot] !== 0; slot = nextSlot(slots, slot)) {
    const record = at(slots, slot)
    const home = homeSlot(slots, hashOf(shard, record - 1))
    const mask = slots.length - 1
    // A search from `home` passes the gap on its way to `slot`.
    if (((slot - home) & mask) >= ((slot - gap) & mask)) {
      slots[gap] = record
      gap = slot
    }
  }
  slots[gap] = 0
}

function capacityOf({ records }: Shard): number {
  return records.length / recordWords
}

function blockPlace(record: number): number {
  return record * recordWords + idWords
}

function hashOf({ records }: Shard, record: number): number {
  return at(records, record * recordWords + 3)
}

function homeSlot(slots: Uint32Array, hash: number): number {
  return hash & (slots.length - 1)
}

function nextSlot(slots: Uint32Array, slot: number): number {
  return (slot + 1) & (slots.length - 1)
}

function handleOf(shard: number, record: number): Handle {
  return (record << shardBits) | shard
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

/** An element that is known to be there. */
function at(array: Uint32Array, place: number): number {
  return array[place] as number // all places are within the arrays
}
