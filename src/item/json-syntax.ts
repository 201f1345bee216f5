/** Bytes, escapes, literals and error messages of JSON syntax (RFC 8259). Browsers run this module too. @module */

/** A range of bytes in a text. `end` is exclusive. */
export interface Span {
  readonly start: number
  readonly end: number
}

/** Positions of an object's member, in bytes. `nameEnd` and `valueEnd` are exclusive. */
export interface Member {
  readonly nameStart: number
  readonly nameEnd: number
  readonly isEscaped: boolean
  readonly valueStart: number
  readonly valueEnd: number
}

/** True if a member's name equals `name`, which has only ASCII letters and underscores. */
export function isNamed(
  text: Uint8Array,
  { nameStart, nameEnd, isEscaped }: Member,
  name: string,
): boolean {
  const length = nameEnd - nameStart
  if (isEscaped) {
    if (length > 6 * name.length) return false // the longest escape has six bytes
    return JSON.parse(`"${String.fromCharCode(...text.subarray(nameStart, nameEnd))}"`) === name
  }
  if (length !== name.length) return false
  for (let place = 0; place < length; place += 1) {
    if (text[nameStart + place] !== name.charCodeAt(place)) return false
  }
  return true
}

/** Called after each member, with the same `member` object. The outermost object has depth 1. */
export type Visit = (member: Member, depth: number) => void

/** Thrown for invalid JSON, with the position of the first invalid byte. */
export class JsonSyntaxError extends Error {
  override readonly name = 'JsonSyntaxError'
  readonly offset: number

  constructor(message: string, offset: number) {
    super(message)
    this.offset = offset
  }
}

export const problems = {
  value: 'expected a value',
  name: 'expected a name in double quotes',
  colon: 'expected a colon',
  digit: 'expected a digit',
  quote: 'expected the closing quote of the string',
  control: 'control characters must be escaped',
  escape: 'invalid escape; expected one of \\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX',
  rest: 'unexpected text after the value',
}

/** Returns the error for a missing comma. The last bit of `bits` is 1 in an object, 0 in an array. */
export function expectsComma(bits: number): string {
  return `expected a comma or "${(bits & 1) === 1 ? '}' : ']'}"`
}

const tab = 0x09
export const lineFeed = 0x0a
const carriageReturn = 0x0d
export const space = 0x20
export const quote = 0x22
export const plus = 0x2b
export const comma = 0x2c
export const minus = 0x2d
export const dot = 0x2e
export const digit0 = 0x30
export const digit9 = 0x39
export const colon = 0x3a
export const openBracket = 0x5b
export const backslash = 0x5c
export const closeBracket = 0x5d
const lowerA = 0x61
export const lowerE = 0x65
const lowerF = 0x66
export const lowerN = 0x6e
const lowerU = 0x75
export const openBrace = 0x7b
export const closeBrace = 0x7d
const escapeLengths = new Uint8Array(256) // by second character (RFC 8259 §7); 0 for `u` and invalid ones
for (const letter of '"\\/bfnrt') escapeLengths[letter.charCodeAt(0)] = 2

const literals = ['true', 'false', 'null'].map((word) =>
  Uint8Array.from(word, (letter) => letter.charCodeAt(0)),
)

/** Returns the length of the literal at `start`; 0 if there is none. It may extend past the end of `bytes`. */
export function literalAt(bytes: Uint8Array, start: number): number {
  for (const literal of literals) {
    let at = 0
    while (at < literal.length && bytes[start + at] === literal[at]) at += 1
    if (at === literal.length || (at > 0 && start + at === bytes.length)) return literal.length
  }
  return 0
}

/** Returns the length of the escape at `start`; 0 if there is none. It may extend past the end of `bytes`. */
export function escapeAt(bytes: Uint8Array, start: number): number {
  if (start + 1 === bytes.length) return 2
  const letter = bytes[start + 1] as number // never undefined: `start + 1` is less than `bytes.length`
  if (letter !== lowerU) return escapeLengths[letter] as number // never undefined: the table has an entry for each byte
  const end = Math.min(start + 6, bytes.length)
  for (let at = start + 2; at < end; at += 1) {
    if (!isHexDigit(bytes[at] as number)) return 0 // never undefined: `at` is less than `bytes.length`
  }
  return 6
}

// A skip function returns the position of the first byte that it doesn't skip, or `end`.

export function skipDigits(bytes: Uint8Array, start: number, end: number): number {
  let at = start
  while (at < end && isDigit(bytes[at] as number)) at = (at + 1) | 0 // `| 0` lets V8 use integer arithmetic
  return at
}

export function skipSpace(bytes: Uint8Array, start: number, end = bytes.length): number {
  let at = start
  while (at < end && isSpace(bytes[at] as number)) at = (at + 1) | 0 // `| 0` lets V8 use integer arithmetic
  return at
}

export function skipPlain(bytes: Uint8Array, start: number, end: number): number {
  let at = start
  while (at < end) {
    const byte = bytes[at] as number // never undefined: `at` is less than `end`
    if (byte === quote || byte === backslash || byte < space) break
    at = (at + 1) | 0
  }
  return at
}

export function isDigit(byte: number): boolean {
  return byte >= digit0 && byte <= digit9
}

function isHexDigit(byte: number): boolean {
  const lower = byte | 0x20
  return isDigit(byte) || (lower >= lowerA && lower <= lowerF)
}

function isSpace(byte: number): boolean {
  return byte === space || byte === lineFeed || byte === carriageReturn || byte === tab
}

export function spaceAt(bytes: Uint8Array, start: number, base: number, problem: string): number {
  const at = skipSpace(bytes, start, bytes.length)
  if (at === start) throw new JsonSyntaxError(problem, base + start)
  return at
}
