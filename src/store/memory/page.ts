/**
 * A page: a run of items that were created one after another, as the very bytes that the list
 * sends for them, each text with a comma behind it.
 *
 * Taking an item out or giving it another length moves the bytes behind it, so that a page never
 * has holes. Bytes that someone still reads are left alone: the page then goes on with a copy.
 *
 * @module
 */

import type { Frame, FramePool } from './frames.js'
import type { Handle } from './item-index.js'

const comma = 0x2c
const firstPositions = 16

export class Page {
  /** Names the page as long as it is in the store. */
  readonly number: number
  previous: Page | undefined
  next: Page | undefined

  readonly #frames: FramePool
  #frame: Frame
  #used = 0
  /** The items by position: whose they are, and where each ends, behind its comma. */
  #handles = new Uint32Array(firstPositions)
  #ends = new Uint32Array(firstPositions)
  #count = 0

  /** @param size bytes that will be needed. */
  constructor(number: number, frames: FramePool, size: number) {
    this.number = number
    this.#frames = frames
    this.#frame = frames.take(size)
  }

  /** Bytes of the items, with their commas. */
  get used(): number {
    return this.#used
  }

  /** How many items there are. */
  get count(): number {
    return this.#count
  }

  /** Bytes that can be added without taking another frame. */
  get room(): number {
    return this.#frame.bytes.length - this.#used
  }

  /** The frame with the bytes, for someone who reads the first `used` of them as they are now. */
  share(): Frame {
    this.#frame.readers += 1
    return this.#frame
  }

  /** Gives the memory back. The page must not be used any more. */
  free(): void {
    this.#frames.release(this.#frame)
  }

  /**
   * The text of an item: a copy, as the page may change before the caller comes to use it. A frame of
   * the item's own is never written to again, and many may wait for a large item at a time.
   */
  read(handle: Handle): Buffer {
    const position = this.#positionOf(handle)
    const { bytes, slab } = this.#frame
    const text = bytes.subarray(this.#startOf(position), this.#endOf(position) - 1)
    return slab === undefined ? text : Buffer.from(text)
  }

  /** Bytes that an item takes, with its comma. */
  lengthOf(handle: Handle): number {
    return this.#lengthOf(this.#positionOf(handle))
  }

  /** Adds an item, for which there is room, at the end. */
  append(handle: Handle, text: Buffer): void {
    // Nobody reads behind `used`, so that a shared frame will do.
    this.#write(text, this.#used)
    this.#addEntry(handle, this.#used + text.length + 1)
  }

  /**
   * Gives an item another text, for which there is room.
   * @throws {RangeError} when there is no memory; the page is then as before.
   */
  replace(handle: Handle, text: Buffer): void {
    const position = this.#positionOf(handle)
    this.#moveBehind(position, text.length + 1 - this.#lengthOf(position))
    this.#write(text, this.#startOf(position))
  }

  /**
   * Takes an item out. With the last one the page has to be freed.
   * @throws {RangeError} when there is no memory; the page is then as before.
   */
  remove(handle: Handle): void {
    const position = this.#positionOf(handle)
    if (this.#count > 1) this.#moveBehind(position, -this.#lengthOf(position))
    this.#dropEntries(position, 1)
  }

  /**
   * Moves items from the start of the next page to the end of this one, as many as fit.
   * @param limit most bytes to move, for which there is room.
   * @param moved is told of each.
   * @returns how many were moved.
   * @throws {RangeError} when there is no memory; both pages are then as before.
   */
  takeFromNext(next: Page, limit: number, moved: (handle: Handle) => void): number {
    let count = 0
    while (count < next.#count && next.#endOf(count) <= limit) count += 1
    if (count === 0) return 0
    const length = next.#endOf(count - 1)
    next.#unshare()
    if (this.#count + count > this.#handles.length) this.#resizeTable(this.#count + count)
    this.#frame.bytes.set(next.#frame.bytes.subarray(0, length), this.#used)
    const shift = this.#used
    for (let position = 0; position < count; position += 1) {
      const handle = element(next.#handles, position)
      this.#addEntry(handle, next.#endOf(position) + shift)
      moved(handle)
    }
    next.#moveBehind(count - 1, -length)
    next.#dropEntries(0, count)
    return count
  }

  /** Bytes of the leading items that make about half of the page: at least one, and not all. */
  half(): number {
    let position = 0
    while (position < this.#count - 2 && this.#endOf(position) < this.#used / 2) position += 1
    return this.#endOf(position)
  }

  /** Gives back what the table has more than it needs, once nothing will be added. */
  seal(): void {
    this.#resizeTable(this.#count)
  }

  #positionOf(handle: Handle): number {
    return this.#handles.indexOf(handle)
  }

  #startOf(position: number): number {
    return position === 0 ? 0 : this.#endOf(position - 1)
  }

  #endOf(position: number): number {
    return element(this.#ends, position)
  }

  #lengthOf(position: number): number {
    return this.#endOf(position) - this.#startOf(position)
  }

  /** Moves the end of an item, and everything behind it, by a number of bytes. */
  #moveBehind(position: number, shift: number): void {
    const end = this.#endOf(position)
    this.#unshare()
    if (shift === 0) return
    this.#frame.bytes.copyWithin(end + shift, end, this.#used)
    for (let at = position; at < this.#count; at += 1) this.#ends[at] = this.#endOf(at) + shift
    this.#used += shift
  }

  #write(text: Buffer, start: number): void {
    this.#frame.bytes.set(text, start)
    this.#frame.bytes[start + text.length] = comma
  }

  #addEntry(handle: Handle, end: number): void {
    if (this.#count === this.#handles.length) this.#resizeTable(this.#count * 2)
    this.#handles[this.#count] = handle
    this.#ends[this.#count] = end
    this.#count += 1
    this.#used = end
  }

  #dropEntries(position: number, count: number): void {
    this.#handles.copyWithin(position, position + count, this.#count)
    this.#ends.copyWithin(position, position + count, this.#count)
    this.#count -= count
  }

  /** Makes sure that nobody else reads the frame. */
  #unshare(): void {
    if (this.#frame.readers === 0) return
    const frame = this.#frames.take(this.#frame.bytes.length)
    frame.bytes.set(this.#frame.bytes.subarray(0, this.#used))
    this.#frames.release(this.#frame)
    this.#frame = frame
  }

  #resizeTable(positions: number): void {
    this.#handles = resized(this.#handles, positions, this.#count)
    this.#ends = resized(this.#ends, positions, this.#count)
  }
}

function resized(column: Uint32Array, length: number, used: number) {
  const copy = new Uint32Array(Math.max(length, 1))
  copy.set(column.subarray(0, used))
  return copy
}

function element(column: Uint32Array, position: number): number {
  return column[position] as number // positions are below `count`
}
