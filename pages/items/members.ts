/**
 * The members of objects in JSON text that is known to be valid. No value is parsed, so that what the page
 * shows and saves is the text itself: `JSON.parse` would round numbers, and reorder or drop members.
 *
 * @module
 */

import { JsonScanner } from '../../src/client/json-scanner.js'

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

/** The members of an object, one after the other. */
export function* membersOf(text: string): Generator<Member, void, void> {
  const scanner = new JsonScanner()
  let start = 0
  let nameEnd = 0
  /** Where the colon is after the name; `undefined` before it. */
  let colon: number | undefined
  for (let sign = scanner.next(text); sign; sign = scanner.next(text)) {
    const { at, depth, isInString } = scanner
    if (depth > 1) continue
    if (sign === ':') colon = at
    else if (sign === '"' && colon === undefined) {
      if (isInString) start = at
      else nameEnd = at + 1
    } else if (colon !== undefined && (sign === ',' || depth === 0)) {
      const name = stringOf(text.slice(start, nameEnd))
      const valueStart = skipSpace(text, colon + 1)
      yield { name, start, valueStart, end: skipSpaceBack(text, at) }
      colon = undefined
    }
    if (depth === 0) return
  }
}

/** The members by name: of those with the same, the service keeps the last (spec §2.1). */
export function lastMembers(text: string): Map<string, Member> {
  return new Map(Array.from(membersOf(text), (member) => [member.name, member]))
}

/** What a JSON string says. @param text with its quotes. */
export function stringOf(text: string): string {
  return text.includes('\\') ? String(JSON.parse(text)) : text.slice(1, -1)
}

/** The first position from this one on that has no white space. */
export function skipSpace(text: string, start: number): number {
  let at = start
  while (isSpace(text.charCodeAt(at))) at += 1
  return at
}

/** The end of the text before this position, without the white space there. */
function skipSpaceBack(text: string, end: number): number {
  let at = end
  while (isSpace(text.charCodeAt(at - 1))) at -= 1
  return at
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09
}
