/** The names of members in a JSON text, with their escapes resolved (RFC 8259 §7): read, hashed and compared. @module */

import { randomInt } from 'node:crypto'
import { mapped, mappedFrom, released } from '../memory/mapped.js'
import { backslash, codeUnit, lowerU, quote } from './json-syntax.js'

/** What each letter after a backslash stands for, except `u`. */
const escapes = Uint8Array.from({ length: 128 }, (_, letter) => letter)
for (const [place, letter] of Array.from('bfnrt').entries())
  escapes[letter.charCodeAt(0)] = '\b\f\n\r\t'.charCodeAt(place)

/** A name or string in a valid JSON text; `start` and `end` exclude its quotes. */
export function nameOf(text: Buffer, start: number, end: number): string {
  const name = text.toString('utf8', start, end)
  return name.includes('\\') ? (JSON.parse(`"${name}"`) as string) : name // it is a valid JSON string
}

/** Returned by `characterAt` for the quote that ends a name; higher than any code point. */
const endOfName = 0x110000

/** Bits of a result of `characterAt` that are the number of bytes. */
const lengthBits = 4

/**
 * Reads a character of a name in a valid JSON text. Half of a surrogate pair without the other half is a character,
 * so that names are equal exactly if their characters are.
 * @returns its code point, followed by the number of bytes that it takes in {@link lengthBits} bits.
 */
export function characterAt(text: Buffer, at: number): number {
  const byte = text[at] as number // within the text
  if (byte === quote) return (endOfName << lengthBits) | 1
  if (byte === backslash) return escapeAt(text, at)
  if (byte < 0x80) return (byte << lengthBits) | 1
  const length = byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4 // RFC 3629 §3
  let code = byte & (0xff >> (length + 1))
  for (let next = at + 1; next < at + length; next += 1) {
    code = (code << 6) | ((text[next] as number) & 0x3f) // the text is valid
  }
  return (code << lengthBits) | length
}

function escapeAt(text: Buffer, at: number): number {
  const letter = text[at + 1] as number // every escape has one
  if (letter !== lowerU) return ((escapes[letter] as number) << lengthBits) | 2 // all are ASCII
  const code = codeUnit(text, at + 2)
  const isHigh = code >= 0xd800 && code <= 0xdbff
  if (isHigh && text[at + 6] === backslash && text[at + 7] === lowerU) {
    const low = codeUnit(text, at + 8)
    const isLow = low >= 0xdc00 && low <= 0xdfff
    if (isLow) return ((0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00)) << lengthBits) | 12
  }
  return (code << lengthBits) | 6
}

/** Upper bound of hashes. Large, but the product of a hash and any base is still exact in a double. */
const prime = 2 ** 31 - 1

/** Bytes of names that are read at once. */
const pieceBytes = 8 * 1024

/** The hash of one name after another: the polynomial with the characters as coefficients, at one point. */
export class NameHash {
  /**
   * The point. Random, because colliding names cost time: without knowing it, nobody can pick names that collide more
   * often than by chance (Carter and Wegman, Universal Classes of Hash Functions, 1979). New for each body: a
   * longer-lived one could be found by timing.
   */
  readonly #base = randomInt(2 ** 20, 2 ** 21)
  #text: Buffer = Buffer.alloc(0)
  #hash = 0
  /** The end of what has been read. */
  end = 0

  /** The hash of the name that has been read, spread over 32 bits. */
  get mixed(): number {
    const hash = this.#hash
    const once = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
    const twice = Math.imul(once ^ (once >>> 12), 0x297a2d39)
    return (twice ^ (twice >>> 15)) >>> 0
  }

  /** @param start of the name. */
  begin(text: Buffer, start: number): void {
    this.#text = text
    this.#hash = 0
    this.end = start
  }

  /** Reads on. @returns whether the name is longer than what has been read. */
  goOn(): boolean {
    const text = this.#text
    const base = this.#base
    let at = this.end
    let hash = this.#hash
    let byte = text[at] as number // before the closing quote, or that
    for (const limit = at + pieceBytes; at < limit && byte !== quote; ) {
      let character = byte
      if (byte === backslash || byte >= 0x80) {
        const read = characterAt(text, at)
        character = read >> lengthBits
        at += read & ((1 << lengthBits) - 1)
      } else {
        at += 1
      }
      const product = (hash + character + 1) * base
      hash = product - Math.floor(product / prime) * prime // the remainder; % takes twice the time
      byte = text[at] as number // as above
    }
    this.#hash = hash
    this.end = at
    return byte !== quote
  }
}

/** Compares the names of one pair after another. */
export class NameComparison {
  readonly #text: Buffer
  #one = 0
  #other = 0
  areSame = false

  constructor(text: Buffer) {
    this.#text = text
  }

  /** @param one start of a name. @param other start of another one. */
  begin(one: number, other: number): void {
    this.#one = one
    this.#other = other
  }

  /** Reads on. @returns whether there is more to read. */
  goOn(): boolean {
    const text = this.#text
    let one = this.#one
    let other = this.#other
    for (const limit = one + pieceBytes; one < limit; ) {
      const byte = text[one] as number // up to the closing quote
      const otherByte = text[other] as number // as above
      if (byte === backslash || otherByte === backslash) {
        const character = characterAt(text, one)
        const otherCharacter = characterAt(text, other)
        if (character >> lengthBits !== otherCharacter >> lengthBits) return this.#end(false)
        one += character & ((1 << lengthBits) - 1)
        other += otherCharacter & ((1 << lengthBits) - 1)
      } else {
        if (byte !== otherByte) return this.#end(false)
        if (byte === quote) return this.#end(true)
        one += 1
        other += 1
      }
    }
    this.#one = one
    this.#other = other
    return true
  }

  #end(areSame: boolean): boolean {
    this.areSame = areSame
    return false
  }
}

/** How full the table of names becomes if all are different. */
const load = 0.72

/** The system provides memory in pages of this size in bytes, when they are first written. */
const pageBytes = 4096

/** The largest text; an entry of the table has as many bits for a position, and the others for bits of the hash. */
export const maxNamedText = 128 * 1024 * 1024
const positionBits = 27

/** Where members are, found by the hashes of their names, in four bytes for each outside of the JavaScript heap. */
export class NameTable {
  readonly #memory: Buffer
  /** For each name, the start of its member and bits of its hash; 0 for none. */
  readonly #slots: Int32Array
  #count = 0
  /** The hash that is looked for, its bits in an entry, and the slot before which it has been looked for. */
  #bits = 0
  #slot = 0

  /** @param count maximum number of names. */
  constructor(count: number) {
    const slots = Math.ceil(count / load)
    const bytes = slots * Int32Array.BYTES_PER_ELEMENT
    this.#memory = bytes < mappedFrom ? Buffer.alloc(bytes) : mapped(bytes)
    this.#slots = new Int32Array(this.#memory.buffer, this.#memory.byteOffset, slots)
  }

  /** Memory that it takes at most, in bytes: each name may be the first in a page. */
  get byteLength(): number {
    return Math.min(this.#memory.length, this.#count * pageBytes)
  }

  /** Looks for a hash. @param hash of 32 bits. */
  begin(hash: number): void {
    this.#bits = hash << positionBits
    this.#slot = Math.floor((hash / 2 ** 32) * this.#slots.length)
  }

  /** Where the next member is whose name may have this hash; 0 if there is none. */
  next(): number {
    const slots = this.#slots
    const bits = this.#bits
    let slot = this.#slot
    let found = slots[slot] as number // within the table
    while (found !== 0 && (found ^ bits) >>> positionBits !== 0) {
      slot = slot + 1 === slots.length ? 0 : slot + 1
      found = slots[slot] as number // as above
    }
    this.#slot = found === 0 ? slot : slot + 1 === slots.length ? 0 : slot + 1
    return found & (maxNamedText - 1)
  }

  /** Adds a member, once there is no other one with this hash. */
  add(start: number): void {
    this.#slots[this.#slot] = start | this.#bits
    this.#count += 1
  }

  /** Returns the memory to the system. The table must not be used any more. */
  release(): void {
    released(this.#memory)
  }
}
