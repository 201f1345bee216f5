/**
 * Finds members and faults in a JSON text (RFC 8259) without parsing any value, so that what the page
 * shows and saves is the text itself: `JSON.parse` would round numbers, and reorder or drop members.
 *
 * The `skip` functions take a position and return the one after what they read. Positions are those of
 * the string. Nesting is kept in a list, so that no depth can overflow the call stack.
 *
 * @module
 */

/** The text is not JSON: what is wrong, and where. */
export class JsonFault extends Error {
  override readonly name = 'JsonFault'
  readonly offset: number

  constructor(message: string, offset: number) {
    super(message)
    this.offset = offset
  }
}

/** A member of an object, by its positions in the text; ends are exclusive. */
export interface Member {
  /** The name with its escapes resolved. */
  readonly name: string
  /** Where its name begins, with the quote. */
  readonly start: number
  readonly valueStart: number
  /** The end of the value and of the member. */
  readonly end: number
}

const quote = 0x22
const comma = 0x2c
const colon = 0x3a
const openBracket = 0x5b
const backslash = 0x5c
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d

const space = /[ \t\n\r]*/y
const digits = /[0-9]+/y
const exponentStart = /[eE][+-]?/y
const literal = /true|false|null/y
const escapes = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y
const loneSurrogate = /\p{Surrogate}/u

/**
 * Checks that a text is one JSON value that can be sent.
 * @returns where the value starts.
 * @throws {JsonFault}
 */
export function checkText(text: string): number {
  const start = skipSpace(text, 0)
  const end = skipSpace(text, skipValue(text, start))
  if (end < text.length) throw fault(text, end, 'unexpected text after the value')
  if (loneSurrogate.test(text)) {
    // It has no form in UTF-8, and another character would be sent in its place.
    throw fault(text, text.search(loneSurrogate), 'half a character; write it as \\uXXXX')
  }
  return start
}

/** The members of the object that starts at a position, one after the other. @throws {JsonFault} */
export function* membersOf(text: string, objectStart = 0): Generator<Member, void, void> {
  let at = skipSpace(text, skipSpace(text, objectStart) + 1)
  if (text.charCodeAt(at) === closeBrace) return
  for (;;) {
    const start = at
    const nameEnd = skipName(text, at)
    const valueStart = skipColon(text, nameEnd)
    const end = skipValue(text, valueStart)
    yield { name: stringOf(text.slice(start, nameEnd)), start, valueStart, end }
    at = skipSpace(text, end)
    if (text.charCodeAt(at) === closeBrace) return
    at = skipComma(text, at, closeBrace)
  }
}

/** The members by name: of those with the same, the service keeps the last (spec §2.1). @throws {JsonFault} */
export function lastMembers(text: string, objectStart = 0): Map<string, Member> {
  return new Map(Array.from(membersOf(text, objectStart), (member) => [member.name, member]))
}

/** Whether an object starts at this position. */
export function isObjectAt(text: string, at: number): boolean {
  return text.charCodeAt(at) === openBrace
}

/** What a JSON string says. @param text in its quotes, as {@link skipString} has found it. */
export function stringOf(text: string): string {
  return text.includes('\\') ? String(JSON.parse(text)) : text.slice(1, -1)
}

/** Skips a value of any type and depth. @throws {JsonFault} */
export function skipValue(text: string, start: number): number {
  /** The closing characters of the objects and arrays that are open, outermost first. */
  const open: number[] = []
  let at = start
  for (;;) {
    const first = text.charCodeAt(at)
    if (first === openBrace || first === openBracket) {
      const close = first === openBrace ? closeBrace : closeBracket
      at = skipSpace(text, at + 1)
      if (text.charCodeAt(at) !== close) {
        open.push(close)
        if (close === closeBrace) at = skipColon(text, skipName(text, at))
        continue
      }
      at += 1
    } else {
      at = skipScalar(text, at)
    }
    for (;;) {
      const close = open.at(-1)
      if (close === undefined) return at
      at = skipSpace(text, at)
      if (text.charCodeAt(at) !== close) {
        at = skipComma(text, at, close)
        if (close === closeBrace) at = skipColon(text, skipName(text, at))
        break
      }
      open.pop()
      at += 1
    }
  }
}

function skipScalar(text: string, start: number): number {
  if (text.charCodeAt(start) === quote) return skipString(text, start)
  if (/[-0-9]/.test(text.charAt(start))) return skipNumber(text, start)
  const end = skip(literal, text, start)
  if (end === undefined) throw fault(text, start, 'expected a value')
  return end
}

function skipNumber(text: string, start: number): number {
  let at = text.charAt(start) === '-' ? start + 1 : start
  at = text.charAt(at) === '0' ? at + 1 : skipDigits(text, at)
  if (text.charAt(at) === '.') at = skipDigits(text, at + 1)
  const exponent = skip(exponentStart, text, at)
  return exponent === undefined ? at : skipDigits(text, exponent)
}

function skipDigits(text: string, start: number): number {
  const end = skip(digits, text, start)
  if (end === undefined) throw fault(text, start, 'expected a digit')
  return end
}

export function skipString(text: string, start: number): number {
  let at = start + 1
  for (;;) {
    const code = text.charCodeAt(at)
    if (code === quote) return at + 1
    if (Number.isNaN(code)) throw fault(text, at, 'expected the closing quote of the string')
    if (code < 0x20) throw fault(text, at, 'control characters must be escaped')
    if (code === backslash) {
      const end = skip(escapes, text, at)
      if (end === undefined) {
        throw fault(
          text,
          at,
          'invalid escape; expected one of \\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX',
        )
      }
      at = end
    } else {
      at += 1
    }
  }
}

function skipName(text: string, at: number): number {
  if (text.charCodeAt(at) !== quote) throw fault(text, at, 'expected a name in double quotes')
  return skipString(text, at)
}

/** Skips the colon after a name and the white space around it. */
function skipColon(text: string, start: number): number {
  const at = skipSpace(text, start)
  if (text.charCodeAt(at) !== colon) throw fault(text, at, 'expected a colon')
  return skipSpace(text, at + 1)
}

/** Skips the comma between two members or elements and the white space after it. */
export function skipComma(text: string, at: number, close = closeBracket): number {
  if (text.charCodeAt(at) !== comma) {
    throw fault(text, at, `expected a comma or "${String.fromCharCode(close)}"`)
  }
  return skipSpace(text, at + 1)
}

export function skipSpace(text: string, start: number): number {
  // Mostly there is none.
  return text.charCodeAt(start) > 0x20 ? start : (skip(space, text, start) ?? start)
}

/** The end of what a sticky expression matches at a position. */
function skip(expression: RegExp, text: string, start: number): number | undefined {
  expression.lastIndex = start
  return expression.test(text) ? expression.lastIndex : undefined
}

function fault(text: string, offset: number, problem: string): JsonFault {
  const isAtEnd = offset >= text.length
  return new JsonFault(isAtEnd ? `${problem}, but the text ends here` : problem, offset)
}
