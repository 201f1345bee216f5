/**
 * Picks the members of `data` that become members of the item. Their names are compared in place: as strings in a
 * `Map` they would take 200 bytes of heap each, and a single body of tiny members could exhaust a small heap.
 *
 * @module
 */

import { createHash } from 'node:crypto'
import { isOwnName, type MemberMarks, type Members, ownNames } from './member-record.js'
import { hashWith, NameTable, nextCharacter, unescapeName } from './names.js'
import { type Slices, sliceBytes } from './slices.js'

/** Longer names are known by their digest. As long as this takes, in bytes, no other request is served. */
const maxName = 8 * 1024
const maxEscape = '\\u0000'.length

// What is done in one slice, which takes a few tenths of a millisecond.
const sliceMembers = 1024
/** Bytes of names to compare. */
const sliceWork = 8 * 1024
/** How many of them a member counts for, besides its name. */
const memberWork = 32
/** How many of them a byte of a name with escapes counts for. */
const escapedWork = 16

const quote = 0x22
const comma = 0x2c
const backslash = 0x5c

/**
 * Moves the members that are kept together, in order, separated by commas: of a repeated name, only the last (as in
 * `JSON.parse`), and none with the name of one of the item's own members. It yields between slices.
 * @param text whose bytes change between the first member and the last.
 * @param hold is called with the memory that this takes, in bytes.
 * @returns where they are then.
 */
export function* keptMembers(
  text: Buffer,
  members: Members,
  marks: MemberMarks,
  hold: (bytes: number) => void,
): Slices<{ start: number; end: number }> {
  const { start, end, few } = members
  if (start === 0) return { start, end }
  const hasDropped = members.hasDropped ?? (yield* markDropped(text, members, marks, hold))
  if (!hasDropped) return { start, end }
  let length = 0
  /** Members with nothing but a comma between them are moved at once. */
  let run = { start, end: start }
  let slice = 0
  for (let place = 0, from = start; from < end; place += 3) {
    const to = few?.[place + 2] ?? marks.next(from + 1, end)
    if (few === undefined ? !marks.isDropped(from) : few[place] === from) {
      if (run.end !== from - 1) {
        length = yield* move(text, run, start, length)
        run = { start: from, end: from }
      }
      run.end = to
    }
    from = few === undefined ? marks.next(to + 1, end) : Math.abs(few[place + 3] ?? end)
    slice += 1
    if (slice % sliceMembers === 0) yield
  }
  length = yield* move(text, run, start, length)
  return { start, end: start + length }
}

/** Moves a part of a text to where `length` bytes are kept already. @returns how many are then. */
function* move(
  text: Buffer,
  run: { readonly start: number; readonly end: number },
  start: number,
  length: number,
): Slices<number> {
  let to = start + length
  if (length > 0 && run.end > run.start) text[to++] = comma
  for (let from = run.start; from < run.end; from += sliceBytes) {
    const end = Math.min(from + sliceBytes, run.end)
    text.copyWithin(to, from, end)
    to += end - from
    if (end < run.end) yield
  }
  return to - start
}

/** Marks the members that are not kept. @returns whether there are any. */
function* markDropped(
  text: Buffer,
  { start, end, count }: Members,
  marks: MemberMarks,
  hold: (bytes: number) => void,
): Slices<boolean> {
  const table = new NameTable(count, (one, other) => isSameName(text, one, other))
  const longNames = new Map<string, number>()
  let hasDropped = false
  let work = 0
  for (let at = start; at < end; ) {
    let other = 0
    const hash = plainHash(text, at, table.base)
    if (hash !== undefined) {
      other = isOwnName(text, at + 1) ? at : table.put(at, hash)
    } else {
      const name = shortName(text, at)
      if (name === undefined) {
        const digest = yield* digestAt(text, at)
        other = longNames.get(digest) ?? 0
        longNames.set(digest, at)
      } else if (ownNames.some((own) => own.equals(name))) {
        other = at
      } else {
        other = table.put(at, hashOf(name, table.base))
      }
      work += escapedWork * (name?.length ?? 0)
    }
    if (other > 0) {
      marks.drop(other)
      hasDropped = true
    }
    const next = marks.next(marks.next(at + 1, end) + 1, end)
    work += memberWork + next - at
    at = next
    if (work > sliceWork) {
      work = 0
      hold(marks.byteLength + table.byteLength)
      yield
    }
  }
  table.release()
  return hasDropped
}

/** The hash of a short name without escapes; `undefined` for any other name. */
function plainHash(text: Buffer, start: number, base: number): number | undefined {
  let hash = 0
  for (let at = start + 1; at <= start + maxName; at += 1) {
    const byte = text[at] as number // before the closing quote
    if (byte === quote) return hash
    if (byte === backslash) return undefined
    hash = hashWith(hash, byte, base)
  }
  return undefined
}

/** A name with its escapes resolved; `undefined` if that is longer than {@link maxName}. */
function shortName(text: Buffer, start: number): Buffer | undefined {
  let end = start + 1
  while (text[end] !== quote) {
    if (end - start > maxEscape * maxName) return undefined
    end += text[end] === backslash ? 2 : 1
  }
  const name = unescapeName(text, start + 1, end)
  return name.length > maxName ? undefined : name
}

/** The digest of a name of any length, with its escapes resolved. */
function* digestAt(text: Buffer, start: number): Slices<string> {
  const sha256 = createHash('sha256')
  let at = start + 1
  while (text[at] !== quote) {
    let end = at
    while (text[end] !== quote && end - at < maxName) end = nextCharacter(text, end)
    sha256.update(unescapeName(text, at, end))
    at = end
    yield
  }
  return sha256.digest('base64')
}

function hashOf(name: Uint8Array, base: number): number {
  let hash = 0
  for (const byte of name) hash = hashWith(hash, byte, base)
  return hash
}

/** Whether two short names are the same. */
function isSameName(text: Buffer, one: number, other: number): boolean {
  for (let at = 1; ; at += 1) {
    const byte = text[one + at]
    if (byte === backslash || text[other + at] === backslash) break
    if (byte !== text[other + at]) return false
    if (byte === quote) return true
  }
  const name = shortName(text, one)
  const otherName = shortName(text, other)
  return name !== undefined && otherName !== undefined && name.equals(otherName)
}
