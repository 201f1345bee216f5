/**
 * Finds positions in a JSON text (RFC 8259) without parsing any value: the byte spans of an object's
 * members, and where the text is not valid JSON. The service checks requests with it, and the items page
 * its input, so it needs nothing that only Node.js has.
 *
 * The `skip` functions take a text in UTF-8 and a position, and return the position after what they read.
 * They keep nesting on a stack of their own, so that no depth can overflow the call stack.
 *
 * @module
 */

/** Position of an object's member in the text, in bytes; ends are exclusive. */
export interface Member {
  /** The name as written between its quotes, including escapes. */
  readonly nameStart: number
  readonly nameEnd: number
  readonly valueStart: number
  readonly valueEnd: number
}

/**
 * Called with each member of the outermost object, which has depth 1, and of nested objects, once it has
 * been read: members of a nested object come before the member whose value that object is.
 */
export type Visit = (member: Member, depth: number) => void

/** The text is not valid JSON: what is wrong, and at which byte. */
export class JsonSyntaxError extends Error {
  override readonly name = 'JsonSyntaxError'
  readonly offset: number

  constructor(message: string, offset: number) {
    super(message)
    this.offset = offset
  }
}

const tab = 0x09
const lineFeed = 0x0a
const carriageReturn = 0x0d
const space = 0x20
const quote = 0x22
const plus = 0x2b
const comma = 0x2c
const minus = 0x2d
const dot = 0x2e
const digit0 = 0x30
const digit9 = 0x39
const colon = 0x3a
const upperE = 0x45
const openBracket = 0x5b
const backslash = 0x5c
const closeBracket = 0x5d
const lowerA = 0x61
const lowerE = 0x65
const lowerF = 0x66
const lowerU = 0x75
const openBrace = 0x7b
const closeBrace = 0x7d

/** Characters that may follow a backslash, other than `u` with its four digits (RFC 8259 §7). */
const simpleEscapes = new TextEncoder().encode('"\\/bfnrt')
const literals = ['true', 'false', 'null'].map((word) => new TextEncoder().encode(word))
const noBytes = new Uint8Array()

/**
 * Scans a complete JSON text.
 * @param levels how many levels of objects to visit; 1 means the outermost only.
 * @returns where the value starts.
 * @throws {JsonSyntaxError} if the text is not JSON.
 */
export function scanText(text: Uint8Array, levels: number, visit: Visit): number {
  const start = skipSpace(text, 0)
  const end = skipSpace(text, visitValue(text, start, levels, 1, visit))
  if (end < text.length) throw syntaxError(text, end, 'unexpected text after the value')
  return start
}

/** Line and column of a byte, both counted from 1, columns in characters. */
export function positionOf(text: Uint8Array, offset: number): string {
  const lineStart = text.subarray(0, offset).lastIndexOf(lineFeed) + 1
  let line = 1
  for (let at = 0; at < lineStart; at += 1) if (text[at] === lineFeed) line += 1
  // A character counts with its first byte; all others are 10xxxxxx (RFC 3629 §3).
  let column = 1
  for (let at = lineStart; at < offset; at += 1) if ((text[at] ?? 0) >> 6 !== 0b10) column += 1
  return `line ${line}, column ${column}`
}

function visitValue(text: Uint8Array, start: number, levels: number, depth: number, visit: Visit) {
  return depth <= levels && text[start] === openBrace
    ? visitObject(text, start, levels, depth, visit)
    : skipValue(text, start)
}

function visitObject(
  text: Uint8Array,
  start: number,
  levels: number,
  depth: number,
  visit: Visit,
): number {
  let at = skipSpace(text, start + 1)
  if (text[at] === closeBrace) return at + 1
  for (;;) {
    const nameStart = at + 1
    const nameEnd = skipName(text, at) - 1
    const valueStart = skipColon(text, nameEnd + 1)
    const valueEnd = visitValue(text, valueStart, levels, depth + 1, visit)
    visit({ nameStart, nameEnd, valueStart, valueEnd }, depth)
    at = skipSpace(text, valueEnd)
    if (text[at] === closeBrace) return at + 1
    at = skipComma(text, at)
  }
}

/** Skips a value of any type and depth, without recording what is inside. */
export function skipValue(text: Uint8Array, start: number): number {
  /** The closing byte of each open object or array, outermost first. */
  let open: Uint8Array = noBytes
  let depth = 0
  let at = start
  for (;;) {
    const first = text[at]
    if (first === openBrace || first === openBracket) {
      const close = first === openBrace ? closeBrace : closeBracket
      at = skipSpace(text, at + 1)
      if (text[at] !== close) {
        if (depth === open.length) open = enlarge(open)
        open[depth] = close
        depth += 1
        if (close === closeBrace) at = skipColon(text, skipName(text, at))
        continue
      }
      at += 1
    } else {
      at = skipScalar(text, at)
    }

    for (;;) {
      if (depth === 0) return at
      const close = open[depth - 1]
      at = skipSpace(text, at)
      if (text[at] !== close) {
        at = skipComma(text, at, close)
        if (close === closeBrace) at = skipColon(text, skipName(text, at))
        break
      }
      depth -= 1
      at += 1
    }
  }
}

function enlarge(stack: Uint8Array): Uint8Array {
  const larger = new Uint8Array(Math.max(64, stack.length * 2))
  larger.set(stack)
  return larger
}

function skipScalar(text: Uint8Array, start: number): number {
  const first = text[start]
  if (first === quote) return skipString(text, start)
  if (first === minus || isDigit(first)) return skipNumber(text, start)
  for (const literal of literals) if (isAt(literal, text, start)) return start + literal.length
  throw syntaxError(text, start, 'expected a value')
}

function isAt(word: Uint8Array, text: Uint8Array, start: number): boolean {
  for (let at = 0; at < word.length; at += 1) if (text[start + at] !== word[at]) return false
  return true
}

function skipNumber(text: Uint8Array, start: number): number {
  let at = text[start] === minus ? start + 1 : start
  at = text[at] === digit0 ? at + 1 : skipDigits(text, at)
  if (text[at] === dot) at = skipDigits(text, at + 1)
  if (text[at] === lowerE || text[at] === upperE) {
    at += 1
    if (text[at] === plus || text[at] === minus) at += 1
    at = skipDigits(text, at)
  }
  return at
}

function skipDigits(text: Uint8Array, start: number): number {
  if (!isDigit(text[start])) throw syntaxError(text, start, 'expected a digit')
  let at = start + 1
  while (isDigit(text[at])) at += 1
  return at
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= digit0 && byte <= digit9
}

function isHexDigit(byte: number | undefined): boolean {
  if (byte === undefined) return false
  const lower = byte | 0x20 // of a letter
  return isDigit(byte) || (lower >= lowerA && lower <= lowerF)
}

function skipString(text: Uint8Array, start: number): number {
  let at = start + 1
  for (;;) {
    const byte = text[at]
    if (byte === quote) return at + 1
    if (byte === undefined) throw syntaxError(text, at, 'expected the closing quote of the string')
    if (byte < space) throw syntaxError(text, at, 'control characters must be escaped')
    at = byte === backslash ? skipEscape(text, at) : at + 1
  }
}

function skipEscape(text: Uint8Array, start: number): number {
  const letter = text[start + 1]
  if (letter === lowerU) {
    let at = start + 2
    while (at < start + 6 && isHexDigit(text[at])) at += 1
    if (at === start + 6) return at
  }
  if (letter !== undefined && simpleEscapes.includes(letter)) return start + 2
  throw syntaxError(
    text,
    start,
    'invalid escape; expected one of \\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX',
  )
}

function skipName(text: Uint8Array, at: number): number {
  if (text[at] !== quote) throw syntaxError(text, at, 'expected a name in double quotes')
  return skipString(text, at)
}

/** Skips the colon after a name and the white space around it. */
function skipColon(text: Uint8Array, start: number): number {
  const at = skipSpace(text, start)
  if (text[at] !== colon) throw syntaxError(text, at, 'expected a colon')
  return skipSpace(text, at + 1)
}

/** Skips the comma between two members or elements and the white space after it. */
export function skipComma(text: Uint8Array, at: number, close = closeBrace): number {
  if (text[at] !== comma) {
    throw syntaxError(text, at, `expected a comma or "${String.fromCharCode(close)}"`)
  }
  return skipSpace(text, at + 1)
}

export function skipSpace(text: Uint8Array, start: number): number {
  let at = start
  for (;;) {
    const byte = text[at]
    if (byte !== space && byte !== lineFeed && byte !== carriageReturn && byte !== tab) return at
    at += 1
  }
}

function syntaxError(text: Uint8Array, offset: number, problem: string): JsonSyntaxError {
  return new JsonSyntaxError(
    offset < text.length ? problem : `${problem}, but the text ends here`,
    Math.min(offset, text.length),
  )
}
