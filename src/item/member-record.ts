/** Records where the members of objects are. @module */

import type { Member } from './json-syntax.js'

/** Where the members of an object are in the text. */
export interface Members {
  /** Of the first one, the quote before its name; 0 if there is none. */
  readonly start: number
  /** The end of the last one. */
  readonly end: number
  readonly count: number
  /**
   * If they are few with short names, and some are not kept: for each, the quote before its name, the one after it, and the end of its
   * value. The first of these is negative for a member that is not kept.
   */
  readonly few: readonly number[] | undefined
  /** Whether some are not kept; `undefined` if that is not known yet. */
  readonly hasDropped: boolean | undefined
}

/** Members whose names are compared with each other, and how long these may be; with more, a table pays. */
const maxFew = 16
const maxFewName = 64

const quote = 0x22
const lowerI = 0x69
const lowerP = 0x70

/** The names of the item's own members. */
export const ownNames = ['id', 'project_id'].map((name) => Buffer.from(name))

/** Records the members of objects, one object after the other. */
export class MemberRecord {
  /** Those of objects that have more than a few. */
  readonly marks = new MemberMarks()
  /** Those of the object, as long as they are few. */
  readonly #few: number[] = []
  #isFew = true
  #start = 0
  #end = 0
  #count = 0

  add({ nameStart, nameEnd, isEscaped, valueEnd }: Member): void {
    const start = nameStart - 1
    const place = 3 * this.#count
    if (place === 0) this.#start = start
    this.#end = valueEnd
    this.#count += 1
    if (this.#isFew && (this.#count > maxFew || nameEnd - nameStart > maxFewName || isEscaped)) {
      this.#isFew = false
      for (let at = 0; at < place; at += 3)
        this.marks.add(this.#few[at] ?? 0, this.#few[at + 2] ?? 0)
    }
    if (this.#isFew) {
      this.#few[place] = start
      this.#few[place + 1] = nameEnd
      this.#few[place + 2] = valueEnd
    } else {
      this.marks.add(start, valueEnd)
    }
  }

  /** The members of the object that has ended. */
  take(text: Buffer): Members {
    const hasDropped = this.#isFew ? dropFew(text, this.#few, this.#count) : undefined
    const few = hasDropped ? this.#few.slice(0, 3 * this.#count) : undefined
    const members = { start: this.#start, end: this.#end, count: this.#count, few, hasDropped }
    this.clear()
    return members
  }

  /** Memory that they take, in bytes, besides a few. */
  get byteLength(): number {
    return this.marks.byteLength
  }

  /** Forgets the members of the object that has ended. */
  clear(): void {
    this.#isFew = true
    this.#start = 0
    this.#end = 0
    this.#count = 0
  }
}

/** Makes the start of those that are not kept negative. @returns whether there are any. */
function dropFew(text: Buffer, few: number[], count: number): boolean {
  let hasDropped = false
  for (let at = 3 * count - 3; at >= 0; at -= 3) {
    const start = few[at] ?? 0
    if (isOwnName(text, start + 1) || isLater(text, few, at, 3 * count)) {
      few[at] = -start
      hasDropped = true
    }
  }
  return hasDropped
}

/** Whether one of the members behind another one, if it is kept, has the same name. */
function isLater(text: Buffer, few: readonly number[], at: number, limit: number): boolean {
  const start = few[at] ?? 0
  const end = few[at + 1] ?? 0
  for (let other = at + 3; other < limit; other += 3) {
    const otherStart = few[other] ?? 0
    let length = end - start
    if (otherStart < 0 || (few[other + 1] ?? 0) - otherStart !== length) continue
    while (length > 0 && text[start + length - 1] === text[otherStart + length - 1]) length -= 1
    if (length === 0) return true
  }
  return false
}

/** Whether a name, in UTF-8 and without escapes, is that of one of the item's own members. */
export function isOwnName(text: Buffer, start: number): boolean {
  const first = text[start]
  if (first !== lowerI && first !== lowerP) return false
  return ownNames.some((own) => {
    const end = start + own.length
    return text[end] === quote && own.compare(text, start, end) === 0
  })
}

/** Bytes of the text in a part, and words for a bit of each. */
const partBytes = 16 * 1024
const partWords = partBytes / 32

/**
 * Where the members of objects are in a text: a bit for each byte, set where a member starts or ends, and
 * another one, set where a member starts that is dropped. A quarter of the text at most, however many members
 * there are.
 */
export class MemberMarks {
  /** For each part of the text in which there is a mark: its marks, then those of dropped members. */
  readonly #parts: (Int32Array | undefined)[] = []
  /** Memory that they take, in bytes. */
  byteLength = 0

  /** @param start the quote before the name. @param end the position after the value. */
  add(start: number, end: number): void {
    this.#set(start, 0)
    this.#set(end, 0)
  }

  /** @param start of a member. */
  drop(start: number): void {
    this.#set(start, partWords)
  }

  /** @param start of a member. */
  isDropped(start: number): boolean {
    const part = this.#parts[Math.floor(start / partBytes)]
    const word = part?.[partWords + wordOf(start)] ?? 0
    return ((word >>> (start & 31)) & 1) === 1
  }

  /** The first start or end from a position on, before another one; that one if there is none. */
  next(from: number, limit: number): number {
    let at = from
    while (at < limit) {
      const part = this.#parts[Math.floor(at / partBytes)]
      const partEnd = (Math.floor(at / partBytes) + 1) * partBytes
      if (part !== undefined) {
        for (; at < partEnd; at = (at & ~31) + 32) {
          const word = (part[wordOf(at)] ?? 0) >>> (at & 31)
          if (word !== 0) return Math.min(limit, at + 31 - Math.clz32(word & -word))
        }
      }
      at = partEnd
    }
    return limit
  }

  #set(position: number, offset: number): void {
    const number = Math.floor(position / partBytes)
    let part = this.#parts[number]
    if (part === undefined) {
      part = new Int32Array(2 * partWords)
      while (this.#parts.length < number) this.#parts.push(undefined)
      this.#parts[number] = part
      this.byteLength += part.byteLength
    }
    const word = offset + wordOf(position)
    part[word] = (part[word] ?? 0) | (1 << (position & 31))
  }
}

function wordOf(position: number): number {
  return (position % partBytes) >>> 5
}
