/** Finds the members of `data` that an item keeps: of several with the same name, the last. @module */

import { createHash } from 'node:crypto'
import { isNamed, type Member, type Span } from './json-syntax.js'
import { type Slices, sliceBytes } from './slices.js'

/** Maximum number of members in `data`. Their names take up to 13 MB of heap for a short time. */
export const maxMembers = 65_536

/** Members of the item itself. Members of `data` with these names are dropped. */
const ownNames = ['id', 'project_id']

export interface Members extends Span {
  readonly count: number
  /** Start and end of each member's name; `undefined` if the item keeps all members. */
  readonly names: Int32Array | undefined
}

const maxFew = 32 // to compare pair by pair; for more, a `Map` is faster
const maxShortName = 64 // in bytes

export class MemberRecord {
  #names = new Int32Array(2 * maxFew)
  #start = 0
  #end = 0
  #count = 0
  #areAllKept = true

  get count(): number {
    return this.#count
  }

  /** Memory that the names take beyond the first, short array, in bytes. */
  get byteLength(): number {
    return (this.#names.length - 2 * maxFew) * Int32Array.BYTES_PER_ELEMENT
  }

  add(text: Buffer, member: Member): void {
    const { nameStart, nameEnd, isEscaped, valueEnd } = member
    const count = this.#count
    if (count === 0) {
      this.#start = nameStart - 1
      this.#end = this.#start
    }
    const isOwn = ownNames.some((name) => isNamed(text, member, name))
    if (!isOwn) this.#end = valueEnd
    if (this.#areAllKept) {
      const isShort = count < maxFew && !isEscaped && nameEnd - nameStart <= maxShortName
      this.#areAllKept = isShort && !isOwn && !this.#isRepeated(text, nameStart, nameEnd)
    }
    if (2 * count === this.#names.length) {
      const longer = new Int32Array(4 * count)
      longer.set(this.#names)
      this.#names = longer
    }
    this.#names[2 * count] = nameStart
    this.#names[2 * count + 1] = nameEnd
    this.#count = count + 1
  }

  take(): Members {
    const names = this.#areAllKept ? undefined : this.#names
    const members = { start: this.#start, end: this.#end, count: this.#count, names }
    if (names !== undefined) this.#names = new Int32Array(2 * maxFew)
    this.#start = 0
    this.#end = 0
    this.#count = 0
    this.#areAllKept = true
    return members
  }

  #isRepeated(text: Buffer, nameStart: number, nameEnd: number): boolean {
    for (let at = 0; at < 2 * this.#count; at += 2) {
      const start = this.#names[at] as number // never undefined: `#names` has two entries for each member
      let length = nameEnd - nameStart
      if ((this.#names[at + 1] as number) - start !== length) continue // the entry at `at + 1` is the end of a name
      while (length > 0 && text[start + length - 1] === text[nameStart + length - 1]) length -= 1
      if (length === 0) return true
    }
    return false
  }
}

const membersPerSlice = 256 // per slice, which takes 0.1 ms
const nameBytes = 200 // of heap for a name in a `Map`, at most
const maxComparedName = 64 * 1024 // in bytes; a longer name is not compared, to keep slices short
const pieceBytes = 8 * 1024 // bytes to move between two checks whether a slice has to end

/** Removes members that an item doesn't keep, and closes gaps. Calls `accountFor` with the memory in use, in bytes. */
export function* keptMembers(
  text: Buffer,
  { start, end, count, names }: Members,
  accountFor: (bytes: number) => void,
): Slices<Span> {
  if (names === undefined) return { start, end }
  const latest = new Map<string, number>()
  const isDropped = new Uint8Array(count)
  for (let place = 0; place < count; place += 1) {
    const nameStart = names[2 * place] as number // never undefined: `names` has two entries for each member
    const nameEnd = names[2 * place + 1] as number // never undefined: `names` has two entries for each member
    const length = nameEnd - nameStart
    if (place % membersPerSlice === 0 || length > maxShortName) {
      accountFor(names.byteLength + place * nameBytes)
      yield
    }
    if (length > maxComparedName) continue
    const name = decoded(text, nameStart, nameEnd)
    const key = keyOf(name)
    const earlier = latest.get(key)
    if (earlier !== undefined) isDropped[earlier] = 1
    if (ownNames.includes(name)) isDropped[place] = 1
    else latest.set(key, place)
  }
  latest.clear() // frees memory before the caller allocates the item

  let from = start
  let to = start
  for (let place = 0; place < count; place += 1) {
    if (place % membersPerSlice === 0) yield
    if (isDropped[place] === 0) continue
    const nameStart = names[2 * place] as number // never undefined: `names` has two entries for each member
    const next = place + 1 < count ? (names[2 * place + 2] as number) : end + 1 // never undefined: a member follows
    to = yield* moved(text, { start: from, end: Math.min(nameStart - 1, end) }, to)
    from = Math.min(next - 1, end)
  }
  return { start, end: yield* moved(text, { start: from, end }, to) }
}

/** Moves text to the left, and returns its new end. */
function* moved(text: Buffer, { start, end }: Span, to: number): Slices<number> {
  for (let at = start; at < end && to < start; at += sliceBytes) {
    const partEnd = Math.min(at + sliceBytes, end)
    text.copyWithin(to + at - start, at, partEnd)
    if (partEnd - at > pieceBytes) yield
  }
  return to + end - start
}

/**
 * Returns `"` and the name or, if it's long, a hash. Without the `"`, clients could cause collisions in a `Map`:
 * V8 hashes strings that look like integers without a secret seed.
 */
function keyOf(name: string): string {
  if (name.length <= maxShortName) return `"${name}`
  return createHash('sha256').update(name, 'utf16le').digest('base64')
}

function decoded(text: Buffer, start: number, end: number): string {
  const name = text.toString('utf8', start, end)
  return name.includes('\\') ? (JSON.parse(`"${name}"`) as string) : name // the text is valid JSON
}
