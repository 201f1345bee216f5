/**
 * Names of members, found by a hash of their bytes, with escapes resolved. What is kept of each is the position of
 * its member, in four bytes outside of the JavaScript heap; the name itself stays in the text.
 *
 * @module
 */

import { randomInt } from 'node:crypto'

/** Upper bound of hashes. Large, but the product of a hash and any base is still exact in a double. */
const prime = 2 ** 31 - 1

/** Most slots of a shard: to move its names to a larger one would take a tenth of a millisecond. */
const maxSlots = 1024

/** How full shards become if all names are different, and how full one may be: by chance, none ever is. */
const load = 0.72
const maxLoad = 0.95

/** The largest text; a slot has as many bits for a position, and the others for bits of the hash. */
export const maxNamedText = 128 * 1024 * 1024
const positionBits = 27

interface Shard {
  /** For each name, the start of its member and bits of its hash; 0 for none. */
  slots: Int32Array
  count: number
}

/** What the names of a table are. */
export interface NamedText {
  /** The hash of the name of a member, by its `start`. */
  hashAt(start: number, base: number): number
  /** Whether two members have the same name. */
  isSame(start: number, other: number): boolean
}

export class NameTable {
  /**
   * The point at which the polynomials of names are evaluated. Random, because colliding names cost time:
   * without knowing it, nobody can pick names that collide more often than by chance (Carter and Wegman,
   * Universal Classes of Hash Functions, 1979). New for each body: a longer-lived one could be found by
   * timing.
   */
  readonly base = randomInt(2 ** 20, 2 ** 21)
  readonly #text: NamedText
  readonly #shards: (Shard | undefined)[]
  readonly #slots: number
  /** Memory that it takes, in bytes. */
  byteLength = 0

  /** @param count maximum number of names. */
  constructor(text: NamedText, count: number) {
    this.#text = text
    this.#slots = Math.min(maxSlots, 2 ** Math.ceil(Math.log2(count / load)))
    this.#shards = new Array(Math.ceil(count / load / this.#slots)).fill(undefined)
  }

  /**
   * Puts a member in the place of the one with the same name, if there is one.
   * @returns the start of that one, or 0.
   */
  put(start: number, hash: number): number {
    const mixed = mix(hash)
    const shard = this.#shardOf(mixed)
    if (shard.count >= shard.slots.length * maxLoad) this.#grow(shard)
    const { slots } = shard
    const entry = start | (mixed << positionBits)
    let slot = homeOf(mixed, slots)
    for (let present = slots[slot]; present; present = slots[slot]) {
      const other = present & (maxNamedText - 1)
      // The bits of the hash are compared first.
      if ((present ^ entry) >>> positionBits === 0 && this.#text.isSame(other, start)) {
        slots[slot] = entry
        return other
      }
      slot = (slot + 1) & (slots.length - 1)
    }
    slots[slot] = entry
    shard.count += 1
    return 0
  }

  #shardOf(mixed: number): Shard {
    const number = Math.floor((mixed / 2 ** 32) * this.#shards.length)
    let shard = this.#shards[number]
    if (shard === undefined) {
      shard = { slots: new Int32Array(this.#slots), count: 0 }
      this.#shards[number] = shard
      this.byteLength += shard.slots.byteLength
    }
    return shard
  }

  #grow(shard: Shard): void {
    const { slots } = shard
    shard.slots = new Int32Array(2 * slots.length)
    this.byteLength += slots.byteLength
    for (const entry of slots) {
      if (entry === 0) continue
      const mixed = mix(this.#text.hashAt(entry & (maxNamedText - 1), this.base))
      let slot = homeOf(mixed, shard.slots)
      while (shard.slots[slot] !== 0) slot = (slot + 1) & (shard.slots.length - 1)
      shard.slots[slot] = entry
    }
  }
}

/** Moves a hash on by a byte. */
export function hashWith(hash: number, byte: number, base: number): number {
  const product = (hash + byte + 1) * base
  return product - Math.floor(product / prime) * prime // the remainder; % takes twice the time
}

/** Spreads a hash over 32 bits. */
function mix(hash: number): number {
  const once = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
  const twice = Math.imul(once ^ (once >>> 12), 0x297a2d39)
  return (twice ^ (twice >>> 15)) >>> 0
}

/** The first bits choose the shard, and the last ones are kept with the position. */
function homeOf(mixed: number, slots: Int32Array): number {
  return (mixed >>> (32 - positionBits)) & (slots.length - 1)
}
