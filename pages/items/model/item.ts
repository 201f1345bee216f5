/** An item in the list, and the values to show from its JSON text. @module */

import { type Member, membersOf, stringOf } from './members.js'
import { typeOf } from './values.js'

export interface Item {
  readonly id: string
  readonly text: string // JSON, exactly as the service sent it
}

const longestShown = 200 // characters of a shortened value or item

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

/**
 * Shortens a member's value. In the result, `text` is JSON without unnecessary escapes. `short` is for a table cell:
 * plain strings (see {@link isPlain}) without quotes, arrays and objects without line breaks.
 * @param text JSON text of the item.
 */
export function shownValue(text: string, { valueStart, end }: Member) {
  const start = text.slice(valueStart, Math.min(end, valueStart + longestShown))
  const cut = end - valueStart > longestShown ? '…' : ''
  // Only arrays and objects contain line breaks and tabs; strings escape them.
  if (!start.startsWith('"')) {
    return { text: start + cut, short: start.replaceAll(/[\n\r\t]\s*/g, '') + cut }
  }
  // Drops half a character or escape at the end.
  const [whole = ''] = /^"(?:[^"\\\p{Surrogate}]|\\u.{4}|\\[^u])*/u.exec(start) ?? []
  const value = stringOf(`${whole}"`) + cut
  const json = JSON.stringify(value)
  return { text: json, short: isPlain(value) ? value : json }
}

function memberOf(text: string, name: string): Member | undefined {
  for (const member of membersOf(text)) if (member.name === name) return member
  return undefined
}

/** True if a string is fully visible without quotes, and cannot be mistaken for another type. */
export function isPlain(text: string): boolean {
  const isOther = /^(?:["[{]|(?:[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?|true|false|null)?$)/i
  return !isOther.test(text) && !/^\s|\s$|[\p{C}\p{Zl}\p{Zp}]/u.test(text)
}

/** Returns a string without quotes and escapes, and any other value as JSON text. */
export function plainText(json: string): string {
  return json.startsWith('"') ? stringOf(json) : json
}

/** True if a value fits a one-line field, which hides line breaks and invisible characters. */
export function isEditableInCell(text: string | undefined): boolean {
  if (text === undefined || typeOf(text).name === 'nested') return false
  return !/[\p{C}\p{Zl}\p{Zp}]/u.test(plainText(text))
}

function stringAt(text: string, member: Member | undefined): string | undefined {
  if (member === undefined || text.charAt(member.valueStart) !== '"') return undefined
  return stringOf(text.slice(member.valueStart, member.end))
}
