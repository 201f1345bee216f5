/** An item as the page keeps it, and what is read from its text when it is shown. @module */

import { type Member, membersOf, stringOf } from './members.js'

/** Only an item's own text is kept, and its id to find it by. */
export interface Item {
  readonly id: string
  /** Its JSON text as the service sent it. */
  readonly text: string
}

/** Longest text of a value or an item that is shown where space is limited, in characters. */
const longestShown = 200

/** What kind of value a JSON text is, as a table shows it. */
export type Kind = 'string' | 'number' | 'literal' | 'nested'

/** @throws {Error} when the text has no id, so it is not an item (spec §2.1). */
export function itemOf(text: string): Item {
  const id = stringAt(text, memberOf(text, 'id'))
  if (id === undefined) throw new Error('the service listed an item without an id')
  return { id, text }
}

/** Its `project_id`; `null` without one. */
export function projectOf({ text }: Item): string | null {
  return stringAt(text, memberOf(text, 'project_id')) ?? null
}

/** The JSON text of a member's value; `undefined` without that member. */
export function memberText({ text }: Item, name: string): string | undefined {
  const member = memberOf(text, name)
  return member && text.slice(member.valueStart, member.end)
}

/** The start of its JSON text, to recognize it by. */
export function startOf({ text }: Item): string {
  return text.length > longestShown ? `${text.slice(0, longestShown)}…` : text
}

/** A name to show: in quotes if nothing of it would be visible, or if it starts with a quote itself. */
export function shownName(name: string): string {
  return /[^\s\p{C}]/u.test(name) && !name.startsWith('"') ? name : JSON.stringify(name)
}

/** A value where space is limited. */
export interface ShownValue {
  /**
   * Its JSON text or the start of it, so that `1.0` is not `1` and `"1"` is not `1`. Escapes in strings are shown as the
   * characters that they stand for.
   */
  readonly text: string
  /** The same for a cell: strings without quotes if they are {@link isPlain}, objects and arrays on one line. */
  readonly short: string
}

/** How a member of an item is shown. @param text of the item. */
export function shownValue(text: string, { valueStart, end }: Member): ShownValue {
  const start = text.slice(valueStart, Math.min(end, valueStart + longestShown))
  const cut = end - valueStart > longestShown ? '…' : ''
  // Strings have no line breaks or tabs as such.
  if (!start.startsWith('"')) {
    return { text: start + cut, short: start.replaceAll(/[\n\r\t]\s*/g, '') + cut }
  }
  // Whole characters and escapes: the cut may go through the last one.
  const [whole = ''] = /^"(?:[^"\\\p{Surrogate}]|\\u.{4}|\\[^u])*/u.exec(start) ?? []
  const value = stringOf(`${whole}"`) + cut
  const json = JSON.stringify(value)
  return { text: json, short: isPlain(value) ? value : json }
}

function memberOf(text: string, name: string): Member | undefined {
  for (const member of membersOf(text)) if (member.name === name) return member
  return undefined
}

/** The kind of a value. @param text of it, or its start. */
export function kindOf(text: string): Kind {
  if (text.startsWith('"')) return 'string'
  if (/^[[{]/.test(text)) return 'nested'
  return /^[tfn]/.test(text) ? 'literal' : 'number'
}

/**
 * Whether a string is shown without quotes: it would not be read as a number, literal, object, array or string in
 * quotes, and it has neither white space at its ends nor characters that cannot be seen.
 */
export function isPlain(text: string): boolean {
  const isOther = /^(?:["[{]|(?:[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?|true|false|null)?$)/i
  return !isOther.test(text) && !/^\s|\s$|[\p{C}\p{Zl}\p{Zp}]/u.test(text)
}

/**
 * Whether a value can be edited in its cell. In a field of one line, nothing shows where a line ends, nor characters
 * that are invisible or change the direction of text; the editor of the whole item does.
 * @param text of it; `undefined` without one.
 */
export function isEditableInCell(text: string | undefined): boolean {
  if (text === undefined || kindOf(text) === 'nested') return false
  return kindOf(text) !== 'string' || !/[\p{C}\p{Zl}\p{Zp}]/u.test(stringOf(text))
}

function stringAt(text: string, member: Member | undefined): string | undefined {
  if (member === undefined || text.charAt(member.valueStart) !== '"') return undefined
  return stringOf(text.slice(member.valueStart, member.end))
}
