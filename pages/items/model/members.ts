/** Finds the members of an object in valid JSON text. Values are not parsed, so numbers keep their digits. @module */

import { JsonScanner } from '../../../src/client/json-scanner.js'

/** A member of a JSON object, with its positions in the object's text. Ends are exclusive. */
export interface Member {
  /** Name with escapes resolved. */
  readonly name: string
  /** Position of the quote that opens the name. */
  readonly start: number
  readonly valueStart: number
  /** End of the value, which is also the end of the member. */
  readonly end: number
}

export function* membersOf(text: string): Generator<Member, void, void> {
  const scanner = new JsonScanner()
  let start = 0
  let nameEnd = 0
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

/** Returns the members by name. If a name is repeated, the last member wins, as in the service (spec §2.1). */
export function lastMembers(text: string): Map<string, Member> {
  return new Map(Array.from(membersOf(text), (member) => [member.name, member]))
}

/** @param text JSON text of a string, with its quotes. */
export function stringOf(text: string): string {
  return text.includes('\\') ? String(JSON.parse(text)) : text.slice(1, -1)
}

export function skipSpace(text: string, start: number): number {
  let at = start
  while (isSpace(text.charCodeAt(at))) at += 1
  return at
}

function skipSpaceBack(text: string, end: number): number {
  let at = end
  while (isSpace(text.charCodeAt(at - 1))) at -= 1
  return at
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09
}
