/**
 * Picks the members of `data` that become members of the item, and compares their names where they
 * stand: as strings in a `Map` they would take 200 bytes of heap a member, so that one body of tiny
 * members could end a process that has little.
 *
 * @module
 */

import { randomInt } from 'node:crypto'
import { nameOf } from './scan.js'

/** Three positions for each member of an object: start and end of its name, and end of its value. */
export type Positions = readonly number[]

const columns = 3
const backslash = 0x5c
const comma = 0x2c
const lowerI = 0x69
const lowerP = 0x70

/** What is in every item beside the members of `data`. */
const ownNames = ['id', 'project_id']

/** Hashes are below it. Large, but a hash times any base is still exact in a double. */
const prime = 2 ** 31 - 1

/**
 * Where the polynomials of names are evaluated: random, as names of the same hash cost time, so that
 * nobody can choose names that share theirs more often than by chance (Carter and Wegman, Universal
 * Classes of Hash Functions, 1979). Each body has its own: one that lives longer is found by timing.
 */
function newBase(): number {
  return randomInt(2 ** 20, 2 ** 21)
}

/**
 * The text of the members that are kept, in order, with commas between them: of a repeated name the
 * last (as in `JSON.parse`), and none of the names that the item gives to members of its own.
 */
export function keptMembers(text: Buffer, members: Positions): Buffer {
  const count = members.length / columns
  const isDropped = markDropped(text, members, count)
  const start = at(members, 0) - 1
  const end = at(members, members.length - 1)
  if (!isDropped.includes(1)) return text.subarray(start, end)

  const kept = Buffer.allocUnsafe(end - start)
  let length = 0
  for (let place = 0; place < count; place += 1) {
    if (isDropped[place] === 1) continue
    if (length > 0) kept[length++] = comma
    const column = place * columns
    length += text.copy(kept, length, at(members, column) - 1, at(members, column + 2))
  }
  return kept.subarray(0, length)
}

/** 1 for each member that is not kept. */
function markDropped(text: Buffer, members: Positions, count: number): Uint8Array {
  const base = newBase()
  const isDropped = new Uint8Array(count)
  const hashes = new Int32Array(count)
  /** Places plus one, at the slot that their hash leads to or behind it; 0 is an empty slot. */
  const slots = new Int32Array(2 ** Math.ceil(Math.log2(2 * count + 1)))
  for (let place = 0; place < count; place += 1) {
    if (isOwnName(text, members, place)) {
      isDropped[place] = 1
      continue
    }
    const hash = hashOfName(text, members, place, base)
    hashes[place] = hash
    let slot = hash & (slots.length - 1)
    for (let other = slots[slot]; other; other = slots[slot]) {
      if (hashes[other - 1] === hash && hasSameName(text, members, other - 1, place)) {
        isDropped[other - 1] = 1
        break
      }
      slot = (slot + 1) & (slots.length - 1)
    }
    slots[slot] = place + 1
  }
  return isDropped
}

function hasSameName(text: Buffer, members: Positions, one: number, other: number): boolean {
  return nameAt(text, members, one) === nameAt(text, members, other)
}

function nameAt(text: Buffer, members: Positions, place: number): string {
  return nameOf(text, at(members, place * columns), at(members, place * columns + 1))
}

/** Whether the item gives a member of this name itself. In all spellings, a name has its first byte or an escape. */
function isOwnName(text: Buffer, members: Positions, place: number): boolean {
  const first = text[at(members, place * columns)]
  const isPossible = first === lowerI || first === lowerP || first === backslash
  return isPossible && ownNames.includes(nameAt(text, members, place))
}

function hashOfName(text: Buffer, members: Positions, place: number, base: number): number {
  const end = at(members, place * columns + 1)
  let hash = 0
  for (let position = at(members, place * columns); position < end; position += 1) {
    const byte = text[position] as number // within the text
    if (byte === backslash) return hashOf(spelling(nameAt(text, members, place)), base)
    hash = withByte(hash, byte, base)
  }
  return hash
}

/** A name as it is written with no more escapes than it must have: lone surrogates have no UTF-8. */
function spelling(name: string): Buffer {
  return Buffer.from(JSON.stringify(name).slice(1, -1))
}

function hashOf(bytes: Buffer, base: number): number {
  let hash = 0
  for (const byte of bytes) hash = withByte(hash, byte, base)
  return hash
}

function withByte(hash: number, byte: number, base: number): number {
  const product = (hash + byte + 1) * base
  return product - Math.floor(product / prime) * prime // the remainder; % takes twice the time
}

/** A position that is known to be there. */
function at(members: Positions, index: number): number {
  return members[index] as number // three for each member
}
