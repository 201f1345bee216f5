/** Checks JSON text (RFC 8259) part by part, without parsing values. Browsers run this code too. @module */

import type { Member, Visit } from './json-syntax.js'
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
  minus,
  openBrace,
  openBracket,
  plus,
  problems,
  quote,
  skipDigits,
  skipPlain,
  spaceAt,
} from './json-syntax.js'

// Parser states, each named after the part of the text that is being read or comes next.
const beforeValue = 0
const beforeElement = 1 // after `[`, before the first element or `]`
const inString = 2
const inName = 3
const beforeColon = 4
const afterValue = 5
const beforeName = 6
const beforeMember = 7 // after `{`, before the first member or `}`
const inInteger = 8
const afterInteger = 9 // after the integer 0, which no digit may follow
const afterMinus = 10
const beforeFraction = 11
const inFraction = 12
const beforeExponent = 13
const afterSign = 14
const inExponent = 15
const afterText = 16 // after the outermost value
const ended = 17 // after any value; the loop replaces it before it reads another byte
const closed = 18 // after an array or object; the loop replaces it immediately
/** Error messages for text that ends too early, by state. In all other states, a bracket isn't closed. */
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

const wordLevels = 32 // nesting levels in a 32-bit word
const noWords = new Int32Array(0)

type OpenMember = { -readonly [Field in keyof Member]: Member[Field] }

function memberAt(members: readonly OpenMember[], depth: number): OpenMember {
  return members[depth] as OpenMember // never undefined: each visited depth has an entry
}

export class JsonChecker {
  position: number // position of the next byte in the whole text; earlier bytes are not needed any more
  readonly #levels: number
  readonly #visit: Visit
  readonly #isText: boolean
  #state = beforeValue
  #depth = 0
  /** Innermost levels of nesting as bits: 1 for an object, 0 for an array. The lowest bit is the innermost. */
  #bits = 0
  stack = noWords // levels of nesting that do not fit into `#bits`
  #visited = 0
  readonly #members: OpenMember[] // latest one at each depth; at depth 0, the outermost value

  /**
   * @param levels of nested objects to visit, 1 or more.
   * @param start position of the only value to read; by default, the whole text is read.
   */
  constructor(levels: number, visit: Visit, start?: number) {
    this.#levels = levels
    this.#visit = visit
    this.position = start ?? 0
    this.#isText = start === undefined
    const open = { nameStart: 0, nameEnd: 0, isEscaped: false, valueStart: 0, valueEnd: 0 }
    this.#members = Array.from({ length: levels + 1 }, () => ({ ...open }))
  }

  /** Returns the latest member at a depth. Its value may be incomplete. */
  memberAt(depth: number): Member {
    return memberAt(this.#members, depth)
  }

  #push(bits: number, depth: number): void {
    const word = depth / wordLevels - 1
    if (word === this.stack.length) {
      const longer = new Int32Array(Math.max(2 * word, wordLevels))
      longer.set(this.stack)
      this.stack = longer
    }
    this.stack[word] = bits
  }

  reset(): void {
    this.position = 0
    this.#state = beforeValue
    this.#depth = 0
    this.#visited = 0
  }

  /** Reads a part of the text, from `base` on. Returns whether the outermost value has ended. @throws {JsonSyntaxError} */
  read(bytes: Uint8Array, base: number, isLast: boolean): boolean {
    const end = bytes.length
    const members = this.#members
    let at = (this.position - base) | 0 // `| 0` lets V8 use integer arithmetic
    let state = this.#state
    let depth = this.#depth
    let bits = this.#bits
    let visited = this.#visited

    reading: while (at < end) {
      const byte = bytes[at] as number // never undefined: `at` is less than `end`
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
            if (depth > 0 && depth % wordLevels === 0) this.#push(bits, depth)
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
          const next = bytes[at] as number // never undefined: `at` is less than `end`
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
          const next = bytes[at] as number // never undefined: `at` is less than `end`
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
        default: // all states in which a digit must follow
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
        if (depth > 0 && depth % wordLevels === 0) bits = this.stack[depth / wordLevels - 1] ?? 0
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
    return state === afterText
  }
}
