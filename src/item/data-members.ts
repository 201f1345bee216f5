/** Finds the members of `data` that an item keeps. Of several members with the same name, the last is kept. @module */

import { backslash, isNamed, lowerI, lowerP, type Member, quote, type Span } from './json-syntax.js'
import { NameComparison, NameHash, NameTable } from './names.js'
import { type Slices, sliceBytes } from './slices.js'

export interface Members extends Span {
  readonly count: number
  /** Whether the quote before each member name has been replaced by a mark, a byte that no JSON text contains. */
  readonly areMarked: boolean
}

const mark = 0x01

// Maximum number, and length in bytes, of names to compare pair by pair. Beyond these limits, a hash table is faster.
const maxFew = 16
const maxFewName = 64

export class MemberRecord {
  readonly #few = new Int32Array(2 * maxFew)
  #start = 0
  #end = 0
  #count = 0
  #areMarked = false
  hasMarked = false

  /** Adds a member. Marks from `base` on are written to `window`, which is a copy of the text that starts at `base`. */
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
        const start = (this.#few[at] as number) - 1 // never undefined: `#few` has two entries for each member
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
      const start = this.#few[at] as number // never undefined: `#few` has two entries for each member
      let length = nameEnd - nameStart
      if ((this.#few[at + 1] as number) - start !== length) continue // the entry at `at + 1` is the end of a name
      while (length > 0 && text[start + length - 1] === text[nameStart + length - 1]) length -= 1
      if (length === 0) return true
    }
    return false
  }
}

/** Length of the window of copied text, in bytes. Processing short members in it takes a few tenths of a ms. */
const windowBytes = 1024
/** Number of bytes in the window after its last mark, enough for a short member. */
const windowMargin = 64

/** Removes members that an item does not keep, and closes gaps. @param hold called with the memory in use, in bytes. */
export function* keptMembers(
  text: Buffer,
  { start, end: lastEnd, count, areMarked }: Members,
  hold: (bytes: number) => void,
): Slices<Span> {
  if (!areMarked) return { start, end: lastEnd }
  const table = new NameTable(count) // in a `Set`, each name would take 200 bytes of heap
  const name = new NameHash()
  const comparison = new NameComparison(text)
  /** Copy of part of the text, because V8 reads slowly from the resizable memory of the whole text. */
  const window = Buffer.allocUnsafe(Math.min(windowBytes, lastEnd - start))
  let windowStart = lastEnd
  let windowEnd = lastEnd
  /** The kept members before position `end` still have to be moved `shift` bytes to the right. */
  let end = lastEnd
  let shift = 0
  for (let next = lastEnd; next > start; ) {
    let at = windowStart + lastMark(window, next - windowStart)
    if (at < windowStart) {
      window.copy(text, next, next - windowStart, end - windowStart) // `window` has quotes where `text` has marks
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
      table.add(at + shift)
    }
    next = at
  }
  window.copy(text, start, start - windowStart, end - windowStart)
  yield* table.release() // frees memory before the caller allocates the item
  yield* move(text, { start, end }, shift)
  return { start: start + shift, end: lastEnd }
}

function lastMark(window: Buffer, before: number): number {
  let at = before - 1
  while (at >= 0 && window[at] !== mark) at -= 1
  return at
}

function* move(text: Buffer, { start, end }: Span, shift: number): Slices<void> {
  for (let partEnd = end; shift > 0 && partEnd > start; partEnd -= sliceBytes) {
    const partStart = Math.max(start, partEnd - sliceBytes)
    text.copyWithin(partStart + shift, partStart, partEnd)
    if (partStart > start) yield
  }
}

function isOwn(text: Buffer, start: number, end: number): boolean {
  const first = text[start]
  if (first !== lowerI && first !== lowerP && first !== backslash) return false
  return isNamed(text, start, end, 'id') || isNamed(text, start, end, 'project_id')
}
