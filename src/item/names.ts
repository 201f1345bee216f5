/** Reads, hashes and compares member names in JSON text, with escapes resolved (RFC 8259 §7). @module */

import { randomInt } from 'node:crypto'
import { mapped, mappedFrom, releasedInSlices } from '../memory/mapped.js'
import { backslash, codeUnit, lowerU, quote } from './json-syntax.js'
import type { Slices } from './slices.js'

/** The character that each escape except `\u` stands for, indexed by the letter after the backslash. */
const escapes = Uint8Array.from({ length: 128 }, (_, letter) => letter)
for (const [place, letter] of Array.from('bfnrt').entries())
  escapes[letter.charCodeAt(0)] = '\b\f\n\r\t'.charCodeAt(place)

/** Value that `characterAt` returns for the quote after a name. The value is higher than any code point. */
const endOfName = 0x110000

const lengthBits = 4

/** Returns the code point or lone surrogate at a position. The low {@link lengthBits} bits give its length in bytes. */
function characterAt(text: Buffer, at: number): number {
  const byte = text[at] as number // never undefined: `at` is within the text
  if (byte === quote) return (endOfName << lengthBits) | 1
  if (byte === backslash) return escapeAt(text, at)
  if (byte < 0x80) return (byte << lengthBits) | 1
  const length = byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4 // bytes of a UTF-8 character (RFC 3629 §3)
  let code = byte & (0xff >> (length + 1))
  for (let next = at + 1; next < at + length; next += 1) {
    code = (code << 6) | ((text[next] as number) & 0x3f) // never undefined: the text is valid UTF-8
  }
  return (code << lengthBits) | length
}

function escapeAt(text: Buffer, at: number): number {
  const letter = text[at + 1] as number // never undefined: a letter follows every backslash in valid JSON
  if (letter !== lowerU) return ((escapes[letter] as number) << lengthBits) | 2 // `escapes` has every ASCII letter
  const code = codeUnit(text, at + 2)
  const isHigh = code >= 0xd800 && code <= 0xdbff
  if (isHigh && text[at + 6] === backslash && text[at + 7] === lowerU) {
    const low = codeUnit(text, at + 8)
    const isLow = low >= 0xdc00 && low <= 0xdfff
    if (isLow) return ((0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00)) << lengthBits) | 12
  }
  return (code << lengthBits) | 6
}

/** With this modulus, the product of a hash and a base stays below 2^53, so it is exact. */
const prime = 2 ** 31 - 1

const pieceBytes = 8 * 1024

/** Hash of a name: the value of a polynomial whose coefficients are the characters of the name. */
export class NameHash {
  /** Random for each request body, so that no client can find names with equal hashes (Carter and Wegman, 1979). */
  readonly #base = randomInt(2 ** 20, 2 ** 21)
  #text: Buffer = Buffer.alloc(0)
  #hash = 0
  end = 0

  /** Hash of the name, in which all 32 bits vary. Valid once the whole name has been read. */
  get mixed(): number {
    const hash = this.#hash
    const once = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
    const twice = Math.imul(once ^ (once >>> 12), 0x297a2d39)
    return (twice ^ (twice >>> 15)) >>> 0
  }

  begin(text: Buffer, start: number): void {
    this.#text = text
    this.#hash = 0
    this.end = start
  }

  /** Hashes the next 8 KiB of the name. Returns whether more of the name follows. */
  goOn(): boolean {
    const text = this.#text
    const base = this.#base
    let at = this.end
    let hash = this.#hash
    let byte = text[at] as number // never undefined: `at` is at most the position of the closing quote
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
      hash = product - Math.floor(product / prime) * prime // the remainder, because `%` takes twice the time
      byte = text[at] as number // never undefined: `at` is at most the position of the closing quote
    }
    this.#hash = hash
    this.end = at
    return byte !== quote
  }
}

export class NameComparison {
  readonly #text: Buffer
  #one = 0
  #other = 0
  areSame = false

  constructor(text: Buffer) {
    this.#text = text
  }

  begin(one: number, other: number): void {
    this.#one = one
    this.#other = other
  }

  /** Compares the next pieces of the two names. Returns whether more pieces follow; if not, sets `areSame`. */
  goOn(): boolean {
    const text = this.#text
    let one = this.#one
    let other = this.#other
    for (const limit = one + pieceBytes; one < limit; ) {
      const byte = text[one] as number // never undefined: `one` is at most the position of the closing quote
      const otherByte = text[other] as number // never undefined: `other` is at most the position of the closing quote
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

const load = 0.72

const pageBytes = 4096

/** Maximum length of a text in bytes, because a slot of a table has 27 bits for a position, and 5 bits of a hash. */
export const maxNamedText = 128 * 1024 * 1024
const positionBits = 27

/** A hash table that maps names to positions. Each slot takes four bytes outside the JavaScript heap. */
export class NameTable {
  readonly #memory: Buffer
  readonly #slots: Int32Array
  #count = 0
  #bits = 0
  #slot = 0

  constructor(count: number) {
    const slots = Math.ceil(count / load)
    const bytes = slots * Int32Array.BYTES_PER_ELEMENT
    this.#memory = bytes < mappedFrom ? Buffer.alloc(bytes) : mapped(bytes)
    this.#slots = new Int32Array(this.#memory.buffer, this.#memory.byteOffset, slots)
  }

  /** Upper bound on the memory in use, in bytes. It assumes that each name is on a memory page of its own. */
  get byteLength(): number {
    return Math.min(this.#memory.length, this.#count * pageBytes)
  }

  begin(hash: number): void {
    this.#bits = hash << positionBits
    this.#slot = Math.floor((hash / 2 ** 32) * this.#slots.length)
  }

  /** Returns the position of the next name that may have the hash passed to `begin`; 0 if there are no more. */
  next(): number {
    const slots = this.#slots
    const bits = this.#bits
    let slot = this.#slot
    let found = slots[slot] as number // never undefined: `slot` is within the table
    while (found !== 0 && (found ^ bits) >>> positionBits !== 0) {
      slot = slot + 1 === slots.length ? 0 : slot + 1
      found = slots[slot] as number // never undefined: `slot` is within the table
    }
    this.#slot = found === 0 ? slot : slot + 1 === slots.length ? 0 : slot + 1
    return found & (maxNamedText - 1)
  }

  /** Adds a name's position, with the hash passed to `begin`. May be called only after `next` has returned 0. */
  add(start: number): void {
    this.#slots[this.#slot] = start | this.#bits
    this.#count += 1
  }

  release(): Slices<void> {
    return releasedInSlices(this.#memory)
  }
}
