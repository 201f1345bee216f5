/**
 * Where the members of objects are in a text: a bit for each byte, set where a member starts or ends, and
 * another one, set where a member starts that is dropped. A quarter of the text at most, however many members
 * there are.
 *
 * @module
 */

/** Bytes of the text in a part, and words for a bit of each. */
const partBytes = 16 * 1024
const partWords = partBytes / 32

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
