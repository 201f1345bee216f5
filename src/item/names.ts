/** The names of members in a JSON text: with their escapes resolved (RFC 8259 §7), and found again in a table. @module */

import { randomInt } from 'node:crypto'
import { mapped, mappedFrom, released } from '../memory/mapped.js'

const backslash = 0x5c
const digit9 = 0x39
const lowerU = 0x75

/** What the character after a backslash stands for, except `u`; others stand for themselves. */
const escapes = new Map(
  Object.entries({ b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }).map(([letter, character]) => [
    letter.charCodeAt(0),
    character.charCodeAt(0),
  ]),
)

/** A name in a valid JSON text; `start` and `end` exclude its quotes. */
export function nameOf(text: Buffer, start: number, end: number): string {
  const name = text.toString('utf8', start, end)
  return name.includes('\\') ? (JSON.parse(`"${name}"`) as string) : name // it is a valid JSON string
}

/**
 * A name or string in a valid JSON text, as UTF-8. A lone surrogate, which UTF-8 cannot encode, becomes the
 * three bytes that its bit pattern would give: names are equal exactly if these bytes are.
 * @param start the position after the opening quote.
 * @param end the position of the closing quote.
 */
export function unescapeName(text: Buffer, start: number, end: number): Buffer {
  const name = Buffer.allocUnsafe(end - start) // escapes are longer than what they stand for
  let length = 0
  for (let at = start; at < end; ) {
    const byte = text[at] as number // within the text
    if (byte !== backslash) {
      name[length++] = byte
      at += 1
    } else if (text[at + 1] !== lowerU) {
      const letter = text[at + 1] as number // every escape has one
      name[length++] = escapes.get(letter) ?? letter
      at += 2
    } else {
      let code = codeUnit(text, at + 2)
      at += 6
      if (isHigh(code) && text[at] === backslash && text[at + 1] === lowerU) {
        const low = codeUnit(text, at + 2)
        if (isLow(low)) {
          code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00)
          at += 6
        }
      }
      length = writeCodePoint(name, length, code)
    }
  }
  return name.subarray(0, length)
}

/**
 * The position after a character, or half of one, that may be an escape; after two halves that belong together.
 * @param at within a name or string in a valid JSON text.
 */
export function nextCharacter(text: Buffer, at: number): number {
  if (text[at] !== backslash) return at + 1
  if (text[at + 1] !== lowerU) return at + 2
  const isPair =
    isHigh(codeUnit(text, at + 2)) &&
    text[at + 6] === backslash &&
    text[at + 7] === lowerU &&
    isLow(codeUnit(text, at + 8))
  return isPair ? at + 12 : at + 6
}

function codeUnit(text: Buffer, start: number): number {
  let code = 0
  for (let at = start; at < start + 4; at += 1) {
    const digit = text[at] as number // every escape has four
    code = code * 16 + (digit & 0xf) + (digit > digit9 ? 9 : 0)
  }
  return code
}

function isHigh(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff
}

function isLow(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff
}

/** Writes a code point in UTF-8 (RFC 3629 §3). @returns the position after it. */
function writeCodePoint(target: Buffer, start: number, code: number): number {
  let at = start
  if (code < 0x80) {
    target[at++] = code
  } else if (code < 0x800) {
    target[at++] = 0xc0 | (code >> 6)
    target[at++] = 0x80 | (code & 0x3f)
  } else if (code < 0x10000) {
    target[at++] = 0xe0 | (code >> 12)
    target[at++] = 0x80 | ((code >> 6) & 0x3f)
    target[at++] = 0x80 | (code & 0x3f)
  } else {
    target[at++] = 0xf0 | (code >> 18)
    target[at++] = 0x80 | ((code >> 12) & 0x3f)
    target[at++] = 0x80 | ((code >> 6) & 0x3f)
    target[at++] = 0x80 | (code & 0x3f)
  }
  return at
}

/** Upper bound of hashes. Large, but the product of a hash and any base is still exact in a double. */
const prime = 2 ** 31 - 1

/** How full the table becomes if all names are different. */
const load = 0.72

/** The system provides memory in pages of this size in bytes, when they are first written. */
const pageBytes = 4096

/** The largest text; a slot has as many bits for a position, and the others for bits of the hash. */
export const maxNamedText = 128 * 1024 * 1024
const positionBits = 27

/**
 * Names of members, found by a hash of their bytes, with escapes resolved. What is kept of each is the position of
 * its member, in four bytes outside of the JavaScript heap; the name itself stays in the text.
 */
export class NameTable {
  /**
   * The point at which the polynomials of names are evaluated. Random, because colliding names cost time:
   * without knowing it, nobody can pick names that collide more often than by chance (Carter and Wegman,
   * Universal Classes of Hash Functions, 1979). New for each body: a longer-lived one could be found by
   * timing.
   */
  readonly base = randomInt(2 ** 20, 2 ** 21)
  readonly #isSame: (start: number, other: number) => boolean
  readonly #memory: Buffer
  /** For each name, the start of its member and bits of its hash; 0 for none. */
  readonly #slots: Int32Array
  #count = 0

  /**
   * @param count maximum number of names.
   * @param isSame whether two members have the same name, by where they start.
   */
  constructor(count: number, isSame: (start: number, other: number) => boolean) {
    this.#isSame = isSame
    const slots = Math.ceil(count / load)
    const bytes = slots * Int32Array.BYTES_PER_ELEMENT
    this.#memory = bytes < mappedFrom ? Buffer.alloc(bytes) : mapped(bytes)
    this.#slots = new Int32Array(this.#memory.buffer, 0, slots)
  }

  /** Memory that it takes at most, in bytes: each name may be the first in a page. */
  get byteLength(): number {
    return Math.min(this.#memory.length, this.#count * pageBytes)
  }

  /** Returns the memory to the system, as the item is about to take some. The table must not be used any more. */
  release(): void {
    released(this.#memory)
  }

  /**
   * Puts a member in the place of the one with the same name, if there is one.
   * @returns the start of that one, or 0.
   */
  put(start: number, hash: number): number {
    const slots = this.#slots
    const mixed = mix(hash)
    const entry = start | (mixed << positionBits)
    let slot = Math.floor((mixed / 2 ** 32) * slots.length)
    for (let present = slots[slot]; present; present = slots[slot]) {
      const other = present & (maxNamedText - 1)
      // The bits of the hash are compared first.
      if ((present ^ entry) >>> positionBits === 0 && this.#isSame(other, start)) {
        slots[slot] = entry
        return other
      }
      slot = slot + 1 === slots.length ? 0 : slot + 1
    }
    slots[slot] = entry
    this.#count += 1
    return 0
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
