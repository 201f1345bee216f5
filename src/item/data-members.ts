/**
 * Picks the members of `data` that become members of the item: none with the name of one of the item's own members,
 * and of a repeated name the last one (as in `JSON.parse`).
 *
 * The names of a few members are compared as they are found. In objects where that would take long, or finds
 * something, members are marked in the text itself: the quote before the name becomes a byte that no JSON text
 * contains. So a body of tiny members takes no memory for their positions.
 *
 * @module
 */

import { backslash, isNamed, lowerI, lowerP, type Member, quote } from './json-syntax.js'
import { NameComparison, NameHash, NameTable } from './names.js'
import { type Slices, sliceBytes } from './slices.js'

/** A part of the text, in bytes; the end is exclusive. */
interface Span {
  readonly start: number
  readonly end: number
}

/** The members of an object, without any at its start or end that the item does not keep. */
export interface Members extends Span {
  /** Upper bound of their number. */
  readonly count: number
  /** Whether they are marked, because some may have to be dropped. */
  readonly areMarked: boolean
}

const mark = 0x01

/** Number of members whose names are compared with each other, and how long these may be. With more, a table pays. */
const maxFew = 16
const maxFewName = 64

/** Records the members of objects, one object after the other. */
export class MemberRecord {
  /** Start and end of each name, while they are few. */
  readonly #few = new Int32Array(2 * maxFew)
  #start = 0
  #end = 0
  #count = 0
  #areMarked = false
  /** Whether a mark has been written since this was set to false. */
  hasMarked = false

  /**
   * @param window a part of the text, in which the member has been found, and which may be changed.
   * @param base where that is in the text.
   */
  add(text: Buffer, window: Buffer, base: number, member: Member): void {
    const { nameStart, nameEnd, valueEnd } = member
    const isInWindow = nameStart > base
    const bytes = isInWindow ? window : text
    const from = isInWindow ? base : 0
    const isDropped = isOwn(bytes, nameStart - from, nameEnd - from)
    if (this.#count === 0) {
      if (isDropped) return
      this.#start = nameStart - 1
    }
    if (!this.#areMarked && (isDropped || this.#isSlow(member) || this.#isRepeated(text, member))) {
      this.#areMarked = true
      for (let at = 0; at < 2 * this.#count; at += 2) {
        const start = (this.#few[at] as number) - 1 // has two for each
        if (start >= base) window[start - base] = mark
        else text[start] = mark
      }
    }
    if (this.#areMarked) {
      bytes[nameStart - 1 - from] = mark
      this.hasMarked = true
    } else {
      this.#few[2 * this.#count] = nameStart
      this.#few[2 * this.#count + 1] = nameEnd
    }
    this.#count += 1
    if (!isDropped) this.#end = valueEnd
  }

  /** The members of the object that has ended. Those of another one follow. */
  take(): Members {
    const members = {
      start: this.#start,
      end: this.#end,
      count: this.#count,
      areMarked: this.#areMarked,
    }
    this.#start = 0
    this.#end = 0
    this.#count = 0
    this.#areMarked = false
    return members
  }

  #isSlow({ nameStart, nameEnd, isEscaped }: Member): boolean {
    return isEscaped || this.#count === maxFew || nameEnd - nameStart > maxFewName
  }

  #isRepeated(text: Buffer, { nameStart, nameEnd }: Member): boolean {
    for (let at = 0; at < 2 * this.#count; at += 2) {
      const start = this.#few[at] as number // has two for each
      let length = nameEnd - nameStart
      if ((this.#few[at + 1] as number) - start !== length) continue // as above
      while (length > 0 && text[start + length - 1] === text[nameStart + length - 1]) length -= 1
      if (length === 0) return true
    }
    return false
  }
}

/** Bytes of text that are worked on in one slice, in a few tenths of a millisecond, if all members are short. */
const windowBytes = 1024
/** How many of them are behind the start of the first member. */
const windowMargin = 64

/**
 * Moves the members that are kept together. It goes from the last member to the first, so that a member is dropped if
 * its name is known already. Names are known by a table outside of the JavaScript heap: as strings in a `Set` they
 * would take 200 bytes of heap each, and a single body of tiny members could exhaust a small heap.
 * @param text whose bytes change between the first member and the last.
 * @param hold is called with the memory that this takes, in bytes.
 * @returns where they are then.
 */
export function* keptMembers(
  text: Buffer,
  { start, end: lastEnd, count, areMarked }: Members,
  hold: (bytes: number) => void,
): Slices<Span> {
  if (!areMarked) return { start, end: lastEnd }
  const table = new NameTable(count)
  const name = new NameHash()
  const comparison = new NameComparison(text)
  /** A copy of some text: V8 takes longer to read memory that can be resized. */
  const window = Buffer.allocUnsafe(Math.min(windowBytes, lastEnd - start))
  let windowStart = lastEnd
  let windowEnd = lastEnd
  /** Members that are kept, up to here, have to be moved by this many bytes. Those behind have been moved. */
  let end = lastEnd
  let shift = 0
  for (let next = lastEnd; next > start; ) {
    let at = windowStart + lastMark(window, next - windowStart)
    if (at < windowStart) {
      window.copy(text, next, next - windowStart, end - windowStart) // with quotes instead of marks
      do {
        hold(table.byteLength)
        yield
        const from = Math.max(start, at + 1 - sliceBytes)
        at = from + text.subarray(from, at + 1).lastIndexOf(mark)
      } while (text[at] !== mark)
      windowStart = Math.max(start, at + windowMargin - windowBytes)
      windowEnd = windowStart + text.copy(window, 0, windowStart)
    }
    window[at - windowStart] = quote

    const isInWindow = next <= windowEnd
    const bytes = isInWindow ? window : text
    const nameStart = at + 1 - (isInWindow ? windowStart : 0)
    name.begin(bytes, nameStart)
    while (name.goOn()) yield
    let isDropped = isOwn(bytes, nameStart, name.end)
    table.begin(name.mixed)
    while (!isDropped) {
      const known = table.next()
      if (known === 0) break
      comparison.begin(at + 1, 1 + (known < end + shift ? known - shift : known))
      while (comparison.goOn()) yield
      isDropped = comparison.areSame
    }
    if (isDropped) {
      if (next < end) {
        if (isInWindow) window.copy(text, next, next - windowStart, end - windowStart)
        yield* move(text, { start: next, end }, shift)
      }
      end = at
      shift += next - at
    } else {
      table.add(at + shift) // where it will be
    }
    next = at
  }
  window.copy(text, start, start - windowStart, end - windowStart)
  table.release() // the item is about to take some memory
  yield* move(text, { start, end }, shift)
  return { start: start + shift, end: lastEnd }
}

/** Where the last mark before a position is; -1 if there is none. */
function lastMark(window: Buffer, before: number): number {
  let at = before - 1
  while (at >= 0 && window[at] !== mark) at -= 1
  return at
}

/** Moves a part of a text towards its end. */
function* move(text: Buffer, { start, end }: Span, shift: number): Slices<void> {
  for (let partEnd = end; shift > 0 && partEnd > start; partEnd -= sliceBytes) {
    const partStart = Math.max(start, partEnd - sliceBytes)
    text.copyWithin(partStart + shift, partStart, partEnd)
    if (partStart > start) yield
  }
}

/** Whether a name is that of one of the item's own members. */
function isOwn(text: Buffer, start: number, end: number): boolean {
  const first = text[start]
  if (first !== lowerI && first !== lowerP && first !== backslash) return false // most names
  return isNamed(text, start, end, 'id') || isNamed(text, start, end, 'project_id')
}
