/**
 * A block of items. Their texts, each followed by a comma, fill a frame from its start, and a table of positions from
 * its end. A large item has a block of its own, without table or comma, in the memory where it arrived. @module
 */

import type { ItemId } from '../../item/id.js'
import { hasId, type ItemFilter } from '../../item/item.js'
import type { Frame } from './frames.js'

const comma = 0x2c
const entryWords = 2 // the hash of an item's id, and the position after its comma
export const entryBytes = entryWords * Int32Array.BYTES_PER_ELEMENT

export class Block {
  readonly frame: Frame
  readonly #words: number
  used = 0 // bytes of texts and their commas
  count = 0

  number = 0 // in the index; set by `Blocks`

  createdAfterList = 0 // number of lists opened before the block was created
  retiredAfterList = 0 // number of lists opened before it was retired; 0 for a current block
  /** Neighbours in list order, including retired blocks. */
  before: Block | undefined = undefined
  after: Block | undefined = undefined
  nextRetained: Block | undefined = undefined

  constructor(frame: Frame, frameBytes: number) {
    this.frame = frame
    this.#words = frameBytes >>> 2
  }

  get isLarge(): boolean {
    return this.frame.slab === undefined
  }

  /** Total size of the texts and the table, in bytes. */
  get filled(): number {
    return this.used + this.count * entryBytes
  }

  /** Returns an item's position; `undefined` if it's in another block. */
  positionOf(id: ItemId, hash: number): number | undefined {
    const { bytes, words } = this.frame
    if (this.isLarge) return hasId(bytes, this.offsetOf(0), id) ? 0 : undefined
    let entry = this.#entry(0)
    for (let position = 0; position < this.count; position += 1) {
      if (words[entry] === hash && hasId(bytes, this.offsetOf(position), id)) return position
      entry = (entry - entryWords) | 0 // `| 0` lets V8 use integer arithmetic
    }
    return undefined
  }

  lengthOf(position: number): number {
    return this.#endOf(position) - this.#startOf(position)
  }

  offsetOf(position: number): number {
    return this.frame.start + this.#startOf(position)
  }

  /** Returns the items that a filter accepts, separated by commas. @param length bytes to read, of whole items. */
  wanted(isWanted: ItemFilter, length: number): Buffer {
    const { bytes, start } = this.frame
    if (this.isLarge) return isWanted(bytes, 0) ? bytes : bytes.subarray(0, 0)
    const pieces: Buffer[] = []
    for (let position = 0, from = 0, at = 0; at < length; position += 1) {
      const end = this.#endOf(position)
      const isKept = isWanted(bytes, start + at)
      if (!isKept || end >= length)
        pieces.push(bytes.subarray(start + from, start + (isKept ? end : at)))
      if (!isKept) from = end
      at = end
    }
    return Buffer.concat(pieces).subarray(0, -1) // without the comma after the last item
  }

  /** Returns a copy of an item's text, because the block may change. @throws {RangeError} if no memory is left. */
  read(position: number): Buffer {
    const { bytes, start } = this.frame
    if (this.isLarge) return bytes
    const from = start + this.#startOf(position)
    const to = start + this.#endOf(position) - 1
    const text = Buffer.allocUnsafe(to - from)
    bytes.copy(text, 0, from, to)
    return text
  }

  append(hash: number, text: Buffer): void {
    if (!this.isLarge) this.#write(text, this.used)
    this.#addEntry(hash, this.used + text.length + 1)
  }

  replace(position: number, text: Buffer): void {
    this.#moveAfter(position, text.length + 1 - this.lengthOf(position))
    this.#write(text, this.#startOf(position))
  }

  /** Removes the items from position `from` up to `to` (exclusive). */
  remove(from: number, to = from + 1): void {
    const start = this.#startOf(from)
    this.#moveAfter(to - 1, start - this.#endOf(to - 1))
    const last = this.#entry(this.count - 1)
    this.frame.words.copyWithin(last + (to - from) * entryWords, last, this.#entry(to - 1))
    this.count -= to - from
  }

  /** Copies items to the end of another block, which must have room. Returns their hashes. `to` is exclusive. */
  copyTo(other: Block, from: number, to: number): number[] {
    const { bytes, start, words } = this.frame
    const [first, end] = [this.#startOf(from), this.#endOf(to - 1)]
    const shift = other.used - first
    other.frame.bytes.set(
      bytes.subarray(start + first, start + end),
      other.frame.start + other.used,
    )
    const hashes: number[] = []
    for (let position = from; position < to; position += 1) {
      const hash = element(words, this.#entry(position))
      other.#addEntry(hash, shift + this.#endOf(position))
      hashes.push(hash)
    }
    return hashes
  }

  /** Returns how many items from the start, with their table entries, fit into `limit` bytes. */
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

  #entry(position: number): number {
    return (this.frame.start >>> 2) + this.#words - (position + 1) * entryWords
  }

  /** Moves the end of an item's text, and all later items, by `shift` bytes. */
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

  #addEntry(hash: number, end: number): void {
    if (!this.isLarge) {
      const entry = this.#entry(this.count)
      this.frame.words[entry] = hash
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
  return words[place] as number // never undefined: callers pass positions within the table
}
