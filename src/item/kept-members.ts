/**
 * Picks the members of `data` that become members of the item. Their names are compared in place: as
 * strings in a `Map` they would take 200 bytes of heap each, and a single body of tiny members could
 * exhaust a small heap.
 *
 * @module
 */

import { randomInt } from 'node:crypto'
import { unescapeName } from './names.js'

/** Three positions for each member of an object: start and end of its name, end of its value. */
export type Positions = readonly number[]

const columns = 3
const backslash = 0x5c
const comma = 0x2c
const lowerI = 0x69
const lowerP = 0x70

/** The names of the item's own members. */
const ownNames = ['id', 'project_id'].map((name) => Buffer.from(name))

/** Upper bound of hashes. Large, but the product of a hash and any base is still exact in a double. */
const prime = 2 ** 31 - 1

/**
 * The point at which the polynomials of names are evaluated. Random, because colliding names cost time:
 * without knowing it, nobody can pick names that collide more often than by chance (Carter and Wegman,
 * Universal Classes of Hash Functions, 1979). New for each body: a longer-lived one could be found by
 * timing.
 */
function newBase(): number {
  return randomInt(2 ** 20, 2 ** 21)
}

/**
 * The text of the members that are kept, in order, separated by commas: of a repeated name, only the last
 * (as in `JSON.parse`), and none with the name of one of the item's own members.
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
    const start = nameStart(members, member)
    const end = nameEnd(members, member)
    let hash = hashOf(text, start, end, base)
    if (hash === hasEscape) {
      const name = unescapeName(text, start, end)
      if (isOwnName(name, 0, name.length)) isDropped[member] = 1
      hash = hashOf(name, 0, name.length, base, false)
    } else if (isOwnName(text, start, end)) {
      isDropped[member] = 1
    }
    if (isDropped[member] === 1) continue
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

/** Names written alike are the same; other names can only be so if one of them has an escape. */
function hasSameName(text: Buffer, members: Positions, one: number, other: number): boolean {
  const [start, end] = [nameStart(members, one), nameEnd(members, one)]
  const [otherStart, otherEnd] = [nameStart(members, other), nameEnd(members, other)]
  if (text.compare(text, start, end, otherStart, otherEnd) === 0) return true
  const [first, second] = [text.subarray(start, end), text.subarray(otherStart, otherEnd)]
  if (!first.includes(backslash) && !second.includes(backslash)) return false
  return unescapeName(first, 0, first.length).equals(unescapeName(second, 0, second.length))
}

/** Whether a name, in UTF-8 and without escapes, is that of one of the item's own members. */
function isOwnName(name: Buffer, start: number, end: number): boolean {
  const first = name[start]
  if (first !== lowerI && first !== lowerP) return false
  return ownNames.some((own) => own.compare(name, start, end) === 0)
}

/** What `hashOf` returns for a name that has to be unescaped first. */
const hasEscape = -1

/** @param isWritten whether the name is still as written, so that a backslash starts an escape. */
function hashOf(name: Buffer, start: number, end: number, base: number, isWritten = true): number {
  let hash = 0
  for (let position = start; position < end; position += 1) {
    const byte = name[position] as number // within the name
    if (byte === backslash && isWritten) return hasEscape
    const product = (hash + byte + 1) * base
    hash = product - Math.floor(product / prime) * prime // the remainder; % takes twice the time
  }
  return hash
}

function nameStart(members: Positions, member: number): number {
  return at(members, member * columns)
}

function nameEnd(members: Positions, member: number): number {
  return at(members, member * columns + 1)
}

/** The position at an index known to exist. */
function at(members: Positions, index: number): number {
  return members[index] as number // three for each member
}
