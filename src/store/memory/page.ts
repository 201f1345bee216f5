/**
 * A page: a run of items that were created one after another, as the very bytes that the list
 * sends for them, each text with a comma after it. The texts start at the start of the page's frame;
 * a table at the end of the frame tells whose they are, and grows towards them.
 *
 * Taking an item out or giving it another length moves the bytes after it, so that a page never
 * has holes. Bytes that a list reads are left alone: the page then goes on with a copy.
 *
 * A large item lies alone on a page whose frame is just as long as the item, has no table, and is
 * never written to again.
 *
 * @module
 */

import { allocate } from './allocate.js'
import type { Handle } from './item-index.js'
import type { Version, Versions } from './versions.js'

const comma = 0x2c

/** An entry of the table: the item's handle, and where the item ends, after its comma. */
const entryWords = 2
/** Bytes that the table takes for each item. */
export const entryBytes = entryWords * Int32Array.BYTES_PER_ELEMENT

export class Page {
  /** Names the page as long as it is in the store. */
  readonly number: number
  previous: Page | undefined
  next: Page | undefined
  /** How many items there are. */
  count = 0
  version: Version
  readonly #versions: Versions
  /** Where an item was found last, as most operations look for one more than once. */
  #found = 0

  constructor(number: number, version: Version, versions: Versions) {
    this.number = number
    this.version = version
    this.#versions = versions
  }

  /** Whether it is the page of a large item. */
  get isLarge(): boolean {
    return this.version.frame.slab === undefined
  }

  /** Bytes that the items would take on another page; a large one stays on its own. */
  get filled(): number {
    return this.isLarge ? Number.POSITIVE_INFINITY : this.version.used + this.count * entryBytes
  }

  /** Bytes that texts and their entries can still take. */
  get room(): number {
    return this.isLarge ? 0 : this.#versions.frames.size - this.filled
  }

  /**
   * The text of an item: a copy, as the page may change before the caller comes to use it. The frame
   * of a large item stays as it is, and many may wait for one at a time.
   * @throws {StoreError} `STORE_FULL` when there is no memory for the copy.
   */
  read(handle: Handle): Buffer {
    const { bytes, start } = this.version.frame
    if (this.isLarge) return bytes.subarray(0, this.version.used - 1)
    const position = this.#positionOf(handle)
    const from = start + this.#startOf(position)
    const to = start + this.#endOf(position) - 1
    const text = allocate(() => Buffer.allocUnsafe(to - from))
    bytes.copy(text, 0, from, to)
    return text
  }

  /** Bytes that an item takes, with its comma. */
  lengthOf(handle: Handle): number {
    const position = this.#positionOf(handle)
    return this.#endOf(position) - this.#startOf(position)
  }

  /**
   * Makes ready for an item that is added, which then cannot fail.
   * @throws {StoreError} `STORE_FULL`
   */
  extend(): void {
    this.version = this.#versions.extend(this.version)
  }

  /** Adds an item, for which there is room and the page was made ready, at the end. */
  append(handle: Handle, text: Buffer): void {
    this.#write(text, this.version.used)
    this.#addEntry(handle, this.version.used + text.length + 1)
  }

  /**
   * Gives an item another text, for which there is room.
   * @throws {StoreError} `STORE_FULL`; the page is then as before.
   */
  replace(handle: Handle, text: Buffer): void {
    this.unshare()
    const position = this.#positionOf(handle)
    const start = this.#startOf(position)
    this.#moveAfter(position, start + text.length + 1 - this.#endOf(position))
    this.#write(text, start)
  }

  /**
   * Gives the only item another text, on another frame.
   * @param isLarge whether the text is that of a large item.
   * @throws {StoreError} `STORE_FULL`; the page is then as before.
   */
  rewrite(handle: Handle, text: Buffer, isLarge: boolean): void {
    const length = text.length + 1
    const frame = this.#versions.takeFrame(this.version, isLarge ? length : undefined)
    this.version = this.#versions.replace(this.version, frame, 0)
    this.count = 0
    this.append(handle, text)
  }

  /**
   * Takes an item out. With the last one the page has to be dropped.
   * @throws {StoreError} `STORE_FULL`; the page is then as before.
   */
  remove(handle: Handle): void {
    if (this.count > 1) {
      this.unshare()
      const position = this.#positionOf(handle)
      this.#moveAfter(position, this.#startOf(position) - this.#endOf(position))
      this.#dropEntries(position, 1)
    } else {
      this.count = 0
    }
  }

  /**
   * Moves items from the start of the next page to the end of this one, as many as fit.
   * @param limit maximum number of bytes to move, table included, for which there is room.
   * @param moved is told of each.
   * @returns how many were moved.
   * @throws {StoreError} `STORE_FULL`; the items of both pages are then as before.
   */
  takeFromNext(next: Page, limit: number, moved: (handle: Handle) => void): number {
    if (next.isLarge) return 0
    let count = 0
    while (count < next.count && next.#endOf(count) + (count + 1) * entryBytes <= limit) count += 1
    if (count === 0) return 0
    const isAll = count === next.count // the next page is dropped then, and not written to
    this.extend()
    if (!isAll) next.unshare()

    const length = next.#endOf(count - 1)
    const shift = this.version.used
    const from = next.version.frame
    const { bytes, start } = this.version.frame
    bytes.set(from.bytes.subarray(from.start, from.start + length), start + shift)
    for (let position = 0; position < count; position += 1) {
      const handle = element(from.words, next.#entry(position))
      this.#addEntry(handle, next.#endOf(position) + shift)
      moved(handle)
    }
    if (!isAll) next.#moveAfter(count - 1, -length)
    next.#dropEntries(0, count)
    return count
  }

  /** Bytes, table included, of the leading items that make about half of the page: not of all. */
  half(): number {
    let position = 0
    while (position < this.count - 2 && this.#endOf(position) < this.version.used / 2) position += 1
    return this.#endOf(position) + (position + 1) * entryBytes
  }

  /**
   * Makes sure that no list reads the bytes, so that they can be moved.
   * @throws {StoreError} `STORE_FULL`
   */
  unshare(): void {
    const { version } = this
    const { frame, used } = version
    if (frame.users === 1 && !this.#versions.isRead(version)) return
    const copy = this.#versions.takeFrame(version)
    const { size } = this.#versions.frames
    const table = size - this.count * entryBytes
    copy.bytes.set(frame.bytes.subarray(frame.start, frame.start + used), copy.start)
    copy.bytes.set(
      frame.bytes.subarray(frame.start + table, frame.start + size),
      copy.start + table,
    )
    this.version = this.#versions.replace(version, copy, used)
  }

  /** Where an item of this page is among its items. */
  #positionOf(handle: Handle): number {
    if (this.count === 1) return 0
    const { words } = this.version.frame
    const first = this.#entry(0)
    const found = this.#found
    if (found < this.count && words[first - found * entryWords] === handle) return found
    // Four entries in a step, and `| 0` for V8 to count in integers: this is where a read spends its time.
    let entry = first
    while (
      words[entry] !== handle &&
      words[entry - entryWords] !== handle &&
      words[entry - 2 * entryWords] !== handle &&
      words[entry - 3 * entryWords] !== handle
    ) {
      entry = (entry - 4 * entryWords) | 0
    }
    while (words[entry] !== handle) entry -= entryWords
    this.#found = (first - entry) / entryWords
    return this.#found
  }

  #startOf(position: number): number {
    return position === 0 ? 0 : this.#endOf(position - 1)
  }

  #endOf(position: number): number {
    const { frame, used } = this.version
    return position === this.count - 1 ? used : element(frame.words, this.#entry(position) + 1)
  }

  /** Where the entry of an item is among the words. */
  #entry(position: number): number {
    const end = this.version.frame.start + this.#versions.frames.size
    return (end >>> 2) - (position + 1) * entryWords
  }

  /** Moves the end of an item, and everything after it, by a number of bytes. */
  #moveAfter(position: number, shift: number): void {
    if (shift === 0) return
    const { bytes, words, start } = this.version.frame
    const end = start + this.#endOf(position)
    bytes.copyWithin(end + shift, end, start + this.version.used)
    const last = this.#entry(this.count - 1)
    for (let entry = this.#entry(position); entry >= last; entry -= entryWords) {
      words[entry + 1] = element(words, entry + 1) + shift
    }
    this.version.used += shift
  }

  #write(text: Buffer, at: number): void {
    const { bytes, start } = this.version.frame
    bytes.set(text, start + at)
    bytes[start + at + text.length] = comma
  }

  #addEntry(handle: Handle, end: number): void {
    const entry = this.#entry(this.count)
    this.count += 1
    this.version.used = end
    if (this.isLarge) return
    this.version.frame.words[entry] = handle
    this.version.frame.words[entry + 1] = end
  }

  #dropEntries(position: number, count: number): void {
    const first = this.#entry(this.count - 1)
    this.version.frame.words.copyWithin(
      first + count * entryWords,
      first,
      this.#entry(position + count - 1),
    )
    this.count -= count
  }
}

function element(words: Int32Array, place: number): number {
  return words[place] as number // places are within the table
}
