/**
 * Checks JSON (RFC 8259) and finds the members of its objects, without parsing any value. The service checks
 * requests with it, and the items page its input, so it needs nothing that only Node.js has.
 *
 * The checker is a state machine that reads a text in parts, which may end anywhere. Nesting is a stack of
 * bits, so that no depth can overflow the call stack.
 *
 * @module
 */

import {
  backslash,
  closeBrace,
  closeBracket,
  colon,
  comma,
  digit0,
  digit9,
  dot,
  escapeAt,
  expectsComma,
  isDigit,
  JsonSyntaxError,
  literalAt,
  lowerE,
  memberAt,
  minus,
  type OpenMember,
  openBrace,
  openBracket,
  plus,
  problems,
  quote,
  skipDigits,
  skipPlain,
  spaceAt,
  type Visit,
} from './json-syntax.js'
import { LevelStack, wordLevels } from './level-stack.js'

// States: where the scanner is in the text.
const beforeValue = 0
const beforeElement = 1 // the first one of an array, or its end
const inString = 2
const inName = 3
const beforeColon = 4
const afterValue = 5
const beforeName = 6
const beforeMember = 7 // the first one of an object, or its end
const inInteger = 8
const afterInteger = 9 // one that begins with 0
const afterMinus = 10
const beforeFraction = 11
const inFraction = 12
const beforeExponent = 13
const afterSign = 14
const inExponent = 15
const afterText = 16 // the outermost value has ended
const ended = 17 // this one and the next do not last
const closed = 18
/** What is missing where the text ends in one of these states; in others, at most the end of an array or object. */
const missing: Readonly<Record<number, string>> = {
  [beforeValue]: problems.value,
  [beforeElement]: problems.value,
  [inString]: problems.quote,
  [inName]: problems.quote,
  [beforeColon]: problems.colon,
  [beforeName]: problems.name,
  [beforeMember]: problems.name,
  [afterMinus]: problems.digit,
  [beforeFraction]: problems.digit,
  [beforeExponent]: problems.digit,
  [afterSign]: problems.digit,
}

/** Reads one value, or a complete text. */
export class JsonChecker {
  position: number // where reading goes on, in bytes; what is before it is not needed any more
  readonly #levels: number
  readonly #visit: Visit
  readonly #isText: boolean
  #state = beforeValue
  #depth = 0
  /** The innermost levels, a bit each, the innermost last: 1 for an object, 0 for an array. */
  #bits = 0
  readonly stack = new LevelStack() // of all levels outside of those
  /** How many of the outermost levels are objects whose members are visited. */
  #visited = 0
  /** The latest member of each of them, and one for the whole text. */
  readonly #members: OpenMember[]

  /**
   * @param levels how many levels of objects to visit; 1 means the outermost only.
   * @param start where a single value starts, behind which reading stops. By default, the text is complete with it.
   */
  constructor(levels: number, visit: Visit, start?: number) {
    this.#levels = levels
    this.#visit = visit
    this.position = start ?? 0
    this.#isText = start === undefined
    const open = { nameStart: 0, nameEnd: 0, isEscaped: false, valueStart: 0, valueEnd: 0 }
    this.#members = Array.from({ length: levels + 1 }, () => ({ ...open }))
  }

  /** Where the outermost value starts, once it has been found. */
  get start(): number {
    return memberAt(this.#members, 0).valueStart
  }

  /** Makes it ready for another text. */
  reset(): void {
    this.position = 0
    this.#state = beforeValue
    this.#depth = 0
    this.#visited = 0
    this.stack.clear()
  }

  /**
   * Reads on.
   * @param bytes contains all of the text from `position` on that is known.
   * @param base where these bytes are in the text.
   * @param isLast whether the text ends with them. If not, a few bytes may be left to be read again.
   * @throws {JsonSyntaxError} at the first byte at which the text cannot be JSON.
   */
  read(bytes: Uint8Array, base: number, isLast: boolean): void {
    const end = bytes.length
    const members = this.#members
    let at = (this.position - base) | 0 // V8 then counts in integers
    let state = this.#state
    let depth = this.#depth
    let bits = this.#bits
    let visited = this.#visited

    reading: while (at < end) {
      const byte = bytes[at] as number // before the end
      switch (state) {
        case beforeValue:
        case beforeElement:
          if (depth === visited) memberAt(members, depth).valueStart = base + at
          if (byte === quote) {
            at += 1
            state = inString
          } else if (byte > digit0 && byte <= digit9) {
            at += 1
            state = inInteger
          } else if (byte === openBrace || byte === openBracket) {
            if (depth > 0 && depth % wordLevels === 0) this.stack.push(bits)
            const isObject = byte === openBrace
            if (isObject && depth === visited && depth < this.#levels) visited += 1
            bits = (bits << 1) | (isObject ? 1 : 0)
            depth += 1
            at += 1
            state = isObject ? beforeMember : beforeElement
          } else if (byte === digit0 || byte === minus) {
            at += 1
            state = byte === minus ? afterMinus : afterInteger
          } else if (byte === closeBracket && state === beforeElement) {
            state = closed
          } else {
            const length = literalAt(bytes, at)
            if (length === 0) {
              at = spaceAt(bytes, at, base, problems.value)
            } else if (at + length <= end) {
              at += length
              state = ended
            } else if (isLast) {
              throw new JsonSyntaxError(problems.value, base + at)
            } else {
              break reading
            }
          }
          break
        case inString:
        case inName: {
          at = skipPlain(bytes, at, end)
          if (at === end) break
          const next = bytes[at] as number // before the end
          if (next === quote) {
            if (state === inString) {
              state = ended
            } else {
              if (depth === visited) memberAt(members, depth).nameEnd = base + at
              state = beforeColon
            }
            at += 1
          } else if (next === backslash) {
            const length = escapeAt(bytes, at)
            if (length === 0 || (isLast && at + length > end)) {
              throw new JsonSyntaxError(problems.escape, base + at)
            }
            if (at + length > end) break reading
            if (state === inName && depth === visited) memberAt(members, depth).isEscaped = true
            at += length
          } else {
            throw new JsonSyntaxError(problems.control, base + at)
          }
          break
        }
        case beforeColon:
          if (byte === colon) {
            at += 1
            state = beforeValue
          } else {
            at = spaceAt(bytes, at, base, problems.colon)
          }
          break
        case afterValue:
          if (byte === comma) {
            at += 1
            state = (bits & 1) === 1 ? beforeName : beforeValue
          } else if (byte === ((bits & 1) === 1 ? closeBrace : closeBracket)) {
            state = closed
          } else {
            at = spaceAt(bytes, at, base, expectsComma(bits))
          }
          break
        case beforeName:
        case beforeMember:
          if (byte === quote) {
            at += 1
            state = inName
            if (depth === visited) {
              const member = memberAt(members, depth)
              member.nameStart = base + at
              member.isEscaped = false
            }
          } else if (byte === closeBrace && state === beforeMember) {
            state = closed
          } else {
            at = spaceAt(bytes, at, base, problems.name)
          }
          break
        case inInteger:
        case afterInteger:
        case inFraction:
        case inExponent: {
          if (state !== afterInteger) at = skipDigits(bytes, at, end)
          if (at === end) break
          const next = bytes[at] as number // before the end
          if (next === dot && state <= afterInteger) {
            at += 1
            state = beforeFraction
          } else if ((next | 0x20) === lowerE && state !== inExponent) {
            at += 1
            state = beforeExponent
          } else {
            state = ended
          }
          break
        }
        case afterText:
          at = spaceAt(bytes, at, base, problems.rest)
          break
        default: // a digit of a number
          if (state === beforeExponent && (byte === plus || byte === minus)) state = afterSign
          else if (!isDigit(byte)) throw new JsonSyntaxError(problems.digit, base + at)
          else if (state === afterMinus) state = byte === digit0 ? afterInteger : inInteger
          else state = state === beforeFraction ? inFraction : inExponent
          at += 1
      }
      if (state === closed) {
        at += 1
        depth -= 1
        bits >>= 1
        if (depth > 0 && depth % wordLevels === 0) bits = this.stack.pop()
        if (visited > depth) visited = depth
        state = ended
      }
      if (state === ended) {
        if (depth === 0) {
          state = afterText
          if (this.#isText) continue
          break
        }
        if (depth === visited) {
          const member = memberAt(members, depth)
          member.valueEnd = base + at
          this.#visit(member, depth)
        }
        state = afterValue
      }
    }

    if (isLast && at === end && state !== afterText) {
      const problem = missing[state] ?? (depth > 0 ? expectsComma(bits) : undefined)
      if (problem !== undefined) {
        throw new JsonSyntaxError(`${problem}, but the text ends here`, base + end)
      }
      state = afterText
    }
    this.position = base + at
    this.#state = state
    this.#depth = depth
    this.#bits = bits
    this.#visited = visited
  }
}
