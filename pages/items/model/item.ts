/** An item in the list, and what its JSON text tells at once. @module */

import { type Member, membersOf, stringOf } from './members.js'
import { longestShown } from './values.js'

export interface Item {
  readonly id: string
  readonly text: string // JSON, exactly as the service sent it
}

/** @throws {Error} for text without an id, which is no item (spec §2.1). */
export function itemOf(text: string): Item {
  const id = stringAt(text, memberOf(text, 'id'))
  if (id === undefined) throw new Error('the service listed an item without an id')
  return { id, text }
}

export function projectOf({ text }: Item): string | null {
  return stringAt(text, memberOf(text, 'project_id')) ?? null
}

export function memberText({ text }: Item, name: string): string | undefined {
  const member = memberOf(text, name)
  return member && text.slice(member.valueStart, member.end)
}

export function startOf({ text }: Item): string {
  return text.length > longestShown ? `${text.slice(0, longestShown)}…` : text
}

/** Returns a name to show, in quotes if it has no visible character or starts with a quote. */
export function shownName(name: string): string {
  return /[^\s\p{C}]/u.test(name) && !name.startsWith('"') ? name : JSON.stringify(name)
}

function memberOf(text: string, name: string): Member | undefined {
  for (const member of membersOf(text)) if (member.name === name) return member
  return undefined
}

function stringAt(text: string, member: Member | undefined): string | undefined {
  if (member === undefined || text.charAt(member.valueStart) !== '"') return undefined
  return stringOf(text.slice(member.valueStart, member.end))
}
