/** Finds the members of an object in valid JSON text, without parsing values: numbers keep their digits. @module */

import { JsonScanner } from '../../../src/client/json-scanner.js'

/** A member and its positions in the object's text. Ends are exclusive. */
export interface Member {
  readonly name: string // with escapes resolved
  readonly start: number // of the quote that opens the name
  readonly valueStart: number
  readonly end: number // of the value, and so of the member
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

/** Returns the members by name. Of several with the same name, takes the last (spec §2.1). */
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
