/**
 * Finds the members of `data` that an item keeps. Members named `id` or `project_id` are dropped. If several members
 * have the same name, only the last of them is kept, as in `JSON.parse`.
 *
 * While an object has few members, each new name is compared with the earlier names. Once the object has many members,
 * or a member has to be dropped, the members are marked in the text. To mark a member, the quote before its name is
 * replaced by a byte that no JSON text contains. So the positions of many tiny members take no memory.
 *
 * @module
 */

import { backslash, isNamed, lowerI, lowerP, type Member, quote, type Span } from './json-syntax.js'
import { NameComparison, NameHash, NameTable } from './names.js'
import { type Slices, sliceBytes } from './slices.js'

/** The text of an object's members, from the first to the last member that the item may keep. */
export interface Members extends Span {
  /** Upper bound on the number of members in this text. */
  readonly count: number
  /** Whether the members are marked in the text, because some of them may have to be dropped. */
  readonly areMarked: boolean
}

const mark = 0x01

/** Maximum number of names that are compared one by one. For more names, a hash table is faster. */
const maxFew = 16
/** Maximum length of a name that is compared with other names, in bytes. For longer names, a hash table is faster. */
const maxFewName = 64

/** Records the members of objects, one object at a time. */
export class MemberRecord {
  /** Start and end of each name. Used until the members are marked in the text. */
  readonly #few = new Int32Array(2 * maxFew)
  #start = 0
  #end = 0
  #count = 0
  #areMarked = false
  /** Whether a mark has been written since the caller last set this field to false. */
  hasMarked = false

  /**
   * Adds a member to the record of the current object.
   * @param window copy of the section of the text in which the member ends. Marks for this section are written to the
   * copy, not to the text.
   * @param base position of the section in the text.
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

  /** Returns the members of the object that has just ended, and prepares to record the next object. */
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

/**
 * Maximum length of the window, in bytes. If all members are short, a slice processes a whole window, which takes a few
 * tenths of a millisecond.
 */
const windowBytes = 1024
/**
 * Number of bytes that the window has after the mark at which a slice begins. The rest of the window is before this
 * mark, because members are processed from last to first.
 */
const windowMargin = 64

/**
 * Drops marked members that the item does not keep, and moves the other members together. Members are processed from
 * last to first. A member is dropped if its name has been seen already. The names are kept in a table outside of the
 * JavaScript heap. In a `Set`, each name would take 200 bytes of heap, and one body of tiny members could exhaust a
 * small heap.
 * @param text JSON text with the members, which is modified between the first member and the last.
 * @param hold called with the memory that this work takes now, in bytes.
 * @returns positions of the start and the end of the kept members.
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
  /** Copy of a part of the text, because V8 reads the resizable memory of the text itself more slowly. */
  const window = Buffer.allocUnsafe(Math.min(windowBytes, lastEnd - start))
  let windowStart = lastEnd
  let windowEnd = lastEnd
  /** Kept members that start before `end` still have to be moved by `shift` bytes. Later members have been moved. */
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
      table.add(at + shift) // the position of the member after its move
    }
    next = at
  }
  window.copy(text, start, start - windowStart, end - windowStart)
  table.release() // before the caller allocates memory for the item
  yield* move(text, { start, end }, shift)
  return { start: start + shift, end: lastEnd }
}

/** Returns the position of the last mark before a position; -1 if there is no mark. */
function lastMark(window: Buffer, before: number): number {
  let at = before - 1
  while (at >= 0 && window[at] !== mark) at -= 1
  return at
}

/** Moves a part of the text by `shift` bytes towards the end of the text. */
function* move(text: Buffer, { start, end }: Span, shift: number): Slices<void> {
  for (let partEnd = end; shift > 0 && partEnd > start; partEnd -= sliceBytes) {
    const partStart = Math.max(start, partEnd - sliceBytes)
    text.copyWithin(partStart + shift, partStart, partEnd)
    if (partStart > start) yield
  }
}

/** Returns whether a name is `id` or `project_id`. An item does not take members with these names from `data`. */
function isOwn(text: Buffer, start: number, end: number): boolean {
  const first = text[start]
  if (first !== lowerI && first !== lowerP && first !== backslash) return false // a fast check for most names
  return isNamed(text, start, end, 'id') || isNamed(text, start, end, 'project_id')
}
