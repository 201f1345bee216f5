/** An item as the page keeps it, and functions that read its text for display. @module */

import { type Member, membersOf, stringOf } from './members.js'

/** An item: its text as received, and its id. */
export interface Item {
  readonly id: string
  /** JSON text of the item as the service sent it. */
  readonly text: string
}

/** Maximum length of a value or an item where space is limited, in characters. */
const longestShown = 200

/** Kind of a JSON value. A table shows each kind differently. */
export type Kind = 'string' | 'number' | 'literal' | 'nested'

/** Creates an item from its text. @throws {Error} if the text has no id, and so is not an item (spec §2.1). */
export function itemOf(text: string): Item {
  const id = stringAt(text, memberOf(text, 'id'))
  if (id === undefined) throw new Error('the service listed an item without an id')
  return { id, text }
}

/** Returns the `project_id` of an item, or `null` if it has no project. */
export function projectOf({ text }: Item): string | null {
  return stringAt(text, memberOf(text, 'project_id')) ?? null
}

/** Returns the JSON text of a member's value, or `undefined` if the item has no such member. */
export function memberText({ text }: Item, name: string): string | undefined {
  const member = memberOf(text, name)
  return member && text.slice(member.valueStart, member.end)
}

/** Returns the start of an item's JSON text, so that people recognize the item. */
export function startOf({ text }: Item): string {
  return text.length > longestShown ? `${text.slice(0, longestShown)}…` : text
}

/** Returns a member's name for display: in quotes if it has no visible character or starts with a quote. */
export function shownName(name: string): string {
  return /[^\s\p{C}]/u.test(name) && !name.startsWith('"') ? name : JSON.stringify(name)
}

/** A value shortened for a place with limited space. */
export interface ShownValue {
  /**
   * JSON text of the value or its start, so that `1.0`, `1` and `"1"` look different. Escapes in strings are replaced
   * by the characters that they stand for.
   */
  readonly text: string
  /** Text for a cell: strings that are {@link isPlain} without quotes, objects and arrays on one line. */
  readonly short: string
}

/** Shortens the value of a member for display. @param text of the item. */
export function shownValue(text: string, { valueStart, end }: Member): ShownValue {
  const start = text.slice(valueStart, Math.min(end, valueStart + longestShown))
  const cut = end - valueStart > longestShown ? '…' : ''
  // Only arrays and objects can contain line breaks or tabs; JSON strings escape them.
  if (!start.startsWith('"')) {
    return { text: start + cut, short: start.replaceAll(/[\n\r\t]\s*/g, '') + cut }
  }
  // Drops the last character or escape if the cut has split it.
  const [whole = ''] = /^"(?:[^"\\\p{Surrogate}]|\\u.{4}|\\[^u])*/u.exec(start) ?? []
  const value = stringOf(`${whole}"`) + cut
  const json = JSON.stringify(value)
  return { text: json, short: isPlain(value) ? value : json }
}

function memberOf(text: string, name: string): Member | undefined {
  for (const member of membersOf(text)) if (member.name === name) return member
  return undefined
}

/** Returns the kind of a JSON value. @param text of the value, or the start of that text. */
export function kindOf(text: string): Kind {
  if (text.startsWith('"')) return 'string'
  if (/^[[{]/.test(text)) return 'nested'
  return /^[tfn]/.test(text) ? 'literal' : 'number'
}

/**
 * Whether a string is shown without quotes. Such a string must not look like a number, literal, object, array or quoted
 * string, and must have neither white space at its ends nor invisible characters.
 */
export function isPlain(text: string): boolean {
  const isOther = /^(?:["[{]|(?:[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?|true|false|null)?$)/i
  return !isOther.test(text) && !/^\s|\s$|[\p{C}\p{Zl}\p{Zp}]/u.test(text)
}

/**
 * Whether a value can be edited in its cell. A field of one line does not show line breaks, invisible characters, or
 * characters that change the direction of text. The editor of the whole item shows these characters.
 * @param text JSON text of the value; `undefined` if the item has no such member.
 */
export function isEditableInCell(text: string | undefined): boolean {
  if (text === undefined || kindOf(text) === 'nested') return false
  return kindOf(text) !== 'string' || !/[\p{C}\p{Zl}\p{Zp}]/u.test(stringOf(text))
}

function stringAt(text: string, member: Member | undefined): string | undefined {
  if (member === undefined || text.charAt(member.valueStart) !== '"') return undefined
  return stringOf(text.slice(member.valueStart, member.end))
}
