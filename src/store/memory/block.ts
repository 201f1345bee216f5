/**
 * A block: items that were created one after another, as the very bytes that the list sends for
 * them, each text with a comma after it. The texts start where the block's frame starts; a table at
 * the end of the frame tells whose they are, and grows towards them.
 *
 * Removing or resizing an item moves the bytes after it, so that a block never has holes.
 *
 * A large item lies alone in a block whose frame is the very memory that the item came in. It has no table
 * and no comma, and is never written to.
 *
 * @module
 */

import type { ItemFilter } from '../../item/item.js'
import { allocate } from '../../memory/mapped.js'
import { outOfMemory } from '../item-store.js'
import type { Frame } from './frames.js'
import type { Handle } from './records.js'

const comma = 0x2c

/** An entry of the table: the item's handle, and where the item ends, after its comma. */
const entryWords = 2
/** Bytes that the table takes for each item. */
export const entryBytes = entryWords * Int32Array.BYTES_PER_ELEMENT

export class Block {
  readonly frame: Frame
  /** Words of the frame: the table ends with the last. */
  readonly #words: number
  /** Bytes of the texts, with their commas. */
  used = 0
  /** How many items there are. */
  count = 0

  /** Stands for the block in the index. Set by `Blocks`. */
  number = 0

  // The rest is set by `Chain`.
  /** How many lists had been opened when it was made, and when it was retired; 0 for a current block. */
  since = 0
  until = 0
  /** Its neighbours in list order, retired ones included. */
  before: Block | undefined = undefined
  after: Block | undefined = undefined
  /** The next of the retired blocks that are kept for the same list. */
  nextKept: Block | undefined = undefined

  /** @param size bytes of the frame. */
  constructor(frame: Frame, size: number) {
    this.frame = frame
    this.#words = size >>> 2
  }

  /** Whether it is the block of a large item. */
  get isLarge(): boolean {
    return this.frame.slab === undefined
  }

  /** Bytes that texts and table take. */
  get filled(): number {
    return this.used + this.count * entryBytes
  }

  /** The position of an item of this block, counted from 0. */
  positionOf(handle: Handle): number {
    if (this.count === 1) return 0
    const { words } = this.frame
    const first = this.#entry(0)
    let entry = first
    while (words[entry] !== handle) entry = (entry - entryWords) | 0 // V8 then counts in integers
    return (first - entry) / entryWords
  }

  /** Bytes that an item takes, with its comma. */
  lengthOf(position: number): number {
    return this.#endOf(position) - this.#startOf(position)
  }

  /** Where an item starts in the memory of the frame. */
  offsetOf(position: number): number {
    return this.frame.start + this.#startOf(position)
  }

  /**
   * The items that a filter wants, with commas between them: a copy, but of a large item.
   * @param length bytes of the items to look at, up to the end of one of them.
   */
  wanted(isWanted: ItemFilter, length: number): Buffer {
    const { bytes, start } = this.frame
    if (this.isLarge) return isWanted(bytes, 0) ? bytes : bytes.subarray(0, 0)
    const pieces: Buffer[] = []
    for (let position = 0, from = 0, at = 0; at < length; position += 1) {
      const end = this.#endOf(position)
      const isKept = isWanted(bytes, start + at)
      // Neighbours in one piece.
      if (!isKept || end >= length)
        pieces.push(bytes.subarray(start + from, start + (isKept ? end : at)))
      if (!isKept) from = end
      at = end
    }
    return Buffer.concat(pieces).subarray(0, -1) // without the last comma
  }

  /**
   * The text of an item: a copy, as the block may change before the caller uses it. A large item never
   * changes in place and is not copied, however many readers there are.
   * @throws {StoreError} `STORE_FULL` when there is no memory for the copy.
   */
  read(position: number): Buffer {
    const { bytes, start } = this.frame
    if (this.isLarge) return bytes
    const from = start + this.#startOf(position)
    const to = start + this.#endOf(position) - 1
    const text = allocate(() => Buffer.allocUnsafe(to - from), outOfMemory)
    bytes.copy(text, 0, from, to)
    return text
  }

  /** Adds an item, for which there is room, at the end. */
  append(handle: Handle, text: Buffer): void {
    if (!this.isLarge) this.#write(text, this.used)
    this.#addEntry(handle, this.used + text.length + 1)
  }

  /** Gives an item another text, for which there is room. */
  replace(position: number, text: Buffer): void {
    this.#moveAfter(position, text.length + 1 - this.lengthOf(position))
    this.#write(text, this.#startOf(position))
  }

  /** Removes the items from one position up to, but not including, another. */
  remove(from: number, to = from + 1): void {
    const start = this.#startOf(from)
    this.#moveAfter(to - 1, start - this.#endOf(to - 1))
    const last = this.#entry(this.count - 1)
    this.frame.words.copyWithin(last + (to - from) * entryWords, last, this.#entry(to - 1))
    this.count -= to - from
  }

  /**
   * Appends copies of the items from one position up to, but not including, another to a block that
   * has room for them. @returns their handles.
   */
  copyTo(other: Block, from: number, to: number): Handle[] {
    const { bytes, start, words } = this.frame
    const [first, end] = [this.#startOf(from), this.#endOf(to - 1)]
    const shift = other.used - first
    other.frame.bytes.set(
      bytes.subarray(start + first, start + end),
      other.frame.start + other.used,
    )
    const handles: Handle[] = []
    for (let position = from; position < to; position += 1) {
      const handle = element(words, this.#entry(position))
      other.#addEntry(handle, shift + this.#endOf(position))
      handles.push(handle)
    }
    return handles
  }

  /** How many of the first items take at most `limit` bytes, table included. */
  countWithin(limit: number): number {
    let count = 0
    while (count < this.count && this.#endOf(count) + (count + 1) * entryBytes <= limit) count += 1
    return count
  }

  #startOf(position: number): number {
    return position === 0 ? 0 : this.#endOf(position - 1)
  }

  #endOf(position: number): number {
    if (position === this.count - 1) return this.used
    return element(this.frame.words, this.#entry(position) + 1)
  }

  /** Where the entry of an item is among the words. */
  #entry(position: number): number {
    return (this.frame.start >>> 2) + this.#words - (position + 1) * entryWords
  }

  /** Moves the end of an item, and everything after it, by a number of bytes. */
  #moveAfter(position: number, shift: number): void {
    if (shift === 0) return
    const { bytes, words, start } = this.frame
    const end = start + this.#endOf(position)
    bytes.copyWithin(end + shift, end, start + this.used)
    const last = this.#entry(this.count - 1)
    for (let entry = this.#entry(position); entry >= last; entry -= entryWords) {
      words[entry + 1] = element(words, entry + 1) + shift
    }
    this.used += shift
  }

  #addEntry(handle: Handle, end: number): void {
    if (!this.isLarge) {
      const entry = this.#entry(this.count)
      this.frame.words[entry] = handle
      this.frame.words[entry + 1] = end
    }
    this.used = end
    this.count += 1
  }

  #write(text: Buffer, at: number): void {
    const { bytes, start } = this.frame
    bytes.set(text, start + at)
    bytes[start + at + text.length] = comma
  }
}

function element(words: Int32Array, place: number): number {
  return words[place] as number // places are within the table
}
