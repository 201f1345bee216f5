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

import { mapped, mappedFrom, released } from '../memory/mapped.js'
import { isNamed, type Member, type Name, quote } from './json-syntax.js'
import { NameComparison, NameHash } from './names.js'
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

  /** @param text may be changed. */
  add(text: Buffer, member: Member): void {
    const { nameStart, nameEnd, valueEnd } = member
    const isDropped = isOwn(text, member)
    if (this.#count === 0) {
      if (isDropped) return
      this.#start = nameStart - 1
    }
    if (!this.#areMarked && (isDropped || this.#isSlow(member) || this.#isRepeated(text, member))) {
      this.#areMarked = true
      for (let at = 0; at < 2 * this.#count; at += 2) text[(this.#few[at] as number) - 1] = mark // has that many
    }
    if (this.#areMarked) {
      text[nameStart - 1] = mark
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

/** How full the table of names becomes if all are different. */
const load = 0.72

/** The system provides memory in pages of this size in bytes, when they are first written. */
const pageBytes = 4096

/** The largest text; an entry of the table has as many bits for a position, and the others for bits of the hash. */
export const maxNamedText = 128 * 1024 * 1024
const positionBits = 27

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
  const length = Math.ceil(count / load)
  const tableBytes = length * Int32Array.BYTES_PER_ELEMENT
  const memory = tableBytes < mappedFrom ? Buffer.alloc(tableBytes) : mapped(tableBytes)
  /** For each name, where its member starts once it has been moved, and bits of its hash; 0 for none. */
  const table = new Int32Array(memory.buffer, memory.byteOffset, length)
  const name = new NameHash()
  const comparison = new NameComparison(text)
  let names = 0
  /** A copy of some text: V8 takes longer to read memory that can be resized. */
  const window = Buffer.allocUnsafeSlow(windowBytes)
  let windowStart = lastEnd
  /** Members that are kept, up to here, have to be moved by this many bytes. Those behind have been moved. */
  let end = lastEnd
  let shift = 0
  for (let next = lastEnd; next > start; ) {
    let at = next - 1
    while (at >= windowStart && window[at - windowStart] !== mark) at -= 1
    if (at < windowStart) {
      do {
        hold(Math.min(tableBytes, names * pageBytes)) // each name may be the first in a page
        yield
        const from = Math.max(start, at + 1 - sliceBytes)
        at = from + text.subarray(from, at + 1).lastIndexOf(mark)
      } while (text[at] !== mark)
      windowStart = Math.max(start, at + windowMargin - windowBytes)
      text.copy(window, 0, windowStart, windowStart + windowBytes)
    }
    text[at] = quote

    const isInWindow = next <= windowStart + windowBytes
    const bytes = isInWindow ? window : text
    const nameStart = at + 1 - (isInWindow ? windowStart : 0)
    name.begin(bytes, nameStart)
    while (name.goOn()) yield
    let isDropped = isOwn(bytes, { nameStart, nameEnd: name.end })
    const hash = name.mixed
    const entry = (at + shift) | (hash << positionBits)
    let slot = Math.floor((hash / 2 ** 32) * length)
    while (!isDropped) {
      const known = table[slot] as number // within the table
      if (known === 0) {
        table[slot] = entry
        names += 1
        break
      }
      // The bits of the hash are compared first.
      if ((known ^ entry) >>> positionBits === 0) {
        const other = known & (maxNamedText - 1)
        comparison.begin(at + 1, 1 + (other < end + shift ? other - shift : other))
        while (comparison.goOn()) yield
        isDropped = comparison.areSame
      }
      slot = slot + 1 === length ? 0 : slot + 1
    }

    if (isDropped) {
      yield* move(text, { start: next, end }, shift)
      end = at
      shift += next - at
    }
    next = at
  }
  released(memory) // the item is about to take some
  yield* move(text, { start, end }, shift)
  return { start: start + shift, end: lastEnd }
}

/** Moves a part of a text towards its end. */
function* move(text: Buffer, { start, end }: Span, shift: number): Slices<void> {
  for (let partEnd = end; shift > 0 && partEnd > start; partEnd -= sliceBytes) {
    const partStart = Math.max(start, partEnd - sliceBytes)
    text.copyWithin(partStart + shift, partStart, partEnd)
    if (partStart > start) yield
  }
}

/** Whether a member has the name of one of the item's own members. */
function isOwn(text: Buffer, name: Name): boolean {
  return isNamed(text, name, 'id') || isNamed(text, name, 'project_id')
}
