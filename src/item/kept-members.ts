/**
 * Picks the members of `data` that become members of the item, and compares their names in place: as
 * strings in a `Map` they would take 200 bytes of heap per member, so that a single body of tiny
 * members could exhaust a small heap.
 *
 * @module
 */

import { randomInt } from 'node:crypto'
import { nameOf } from './scan.js'

/** Three positions for each member of an object: start and end of its name, end of its value. */
export type Positions = readonly number[]

const columns = 3
const backslash = 0x5c
const comma = 0x2c
const lowerI = 0x69
const lowerP = 0x70

/** The names of the item's own members. */
const ownNames = ['id', 'project_id']

/** Upper bound of hashes. Large, but a hash times any base is still exact in a double. */
const prime = 2 ** 31 - 1

/**
 * Where the polynomials of names are evaluated. Random, because names with equal hashes cost time:
 * without knowing it, nobody can choose names that collide more often than by chance (Carter and
 * Wegman, Universal Classes of Hash Functions, 1979). New for each body: a longer-lived one could be
 * found by timing.
 */
function newBase(): number {
  return randomInt(2 ** 20, 2 ** 21)
}

/**
 * The text of the members that are kept, in order, with commas between them: of a repeated name, only
 * the last (as in `JSON.parse`), and none with the name of one of the item's own members.
 */
export function keptMembers(text: Buffer, members: Positions): Buffer {
  const count = members.length / columns
  const isDropped = markDropped(text, members, count)
  const start = at(members, 0) - 1
  const end = at(members, members.length - 1)
  if (!isDropped.includes(1)) return text.subarray(start, end)

  const kept = Buffer.allocUnsafe(end - start)
  let length = 0
  for (let member = 0; member < count; member += 1) {
    if (isDropped[member] === 1) continue
    if (length > 0) kept[length++] = comma
    const column = member * columns
    length += text.copy(kept, length, at(members, column) - 1, at(members, column + 2))
  }
  return kept.subarray(0, length)
}

/** 1 for each member that is not kept. */
function markDropped(text: Buffer, members: Positions, count: number): Uint8Array {
  const base = newBase()
  const isDropped = new Uint8Array(count)
  const hashes = new Int32Array(count)
  /** Member numbers plus one, in the slot of their hash or the next free one; 0 marks an empty slot. */
  const slots = new Int32Array(2 ** Math.ceil(Math.log2(2 * count + 1)))
  for (let member = 0; member < count; member += 1) {
    if (isOwnName(text, members, member)) {
      isDropped[member] = 1
      continue
    }
    const hash = hashOfName(text, members, member, base)
    hashes[member] = hash
    let slot = hash & (slots.length - 1)
    for (let other = slots[slot]; other; other = slots[slot]) {
      if (hashes[other - 1] === hash && hasSameName(text, members, other - 1, member)) {
        isDropped[other - 1] = 1
        break
      }
      slot = (slot + 1) & (slots.length - 1)
    }
    slots[slot] = member + 1
  }
  return isDropped
}

function hasSameName(text: Buffer, members: Positions, one: number, other: number): boolean {
  return nameAt(text, members, one) === nameAt(text, members, other)
}

function nameAt(text: Buffer, members: Positions, member: number): string {
  return nameOf(text, at(members, member * columns), at(members, member * columns + 1))
}

/** Whether this is one of the item's own names; written in any way, it starts with its letter or a backslash. */
function isOwnName(text: Buffer, members: Positions, member: number): boolean {
  const first = text[at(members, member * columns)]
  const isPossible = first === lowerI || first === lowerP || first === backslash
  return isPossible && ownNames.includes(nameAt(text, members, member))
}

function hashOfName(text: Buffer, members: Positions, member: number, base: number): number {
  const end = at(members, member * columns + 1)
  let hash = 0
  for (let position = at(members, member * columns); position < end; position += 1) {
    const byte = text[position] as number // within the text
    if (byte === backslash) return hashOf(canonical(nameAt(text, members, member)), base)
    hash = withByte(hash, byte, base)
  }
  return hash
}

/** A name in canonical form, with only the necessary escapes: lone surrogates have no UTF-8. */
function canonical(name: string): Buffer {
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

/** The position at an index known to exist. */
function at(members: Positions, index: number): number {
  return members[index] as number // three for each member
}
