/** The types of JSON values: all that tells one from the others when it is read, edited, sorted and drawn. @module */

import { layOut } from '../../shared/json-layout.js'
import { compareCharacters, compareNumbers, compareWords } from './compare.js'
import { type Member, stringOf } from './members.js'

export interface ValueType {
  readonly firsts: string // first characters of the JSON text of its values
  readonly blank: string // JSON text of its empty value, for a new item
  readonly classes: string // of its table cells, in list.css
  readonly isAtEnd?: true // aligned with the end of its cell
  /**
   * Width of a shown value: this fraction of the characters of its JSON text, less the second number. Letters are
   * narrower than digits on average, strings have no quotes, and nested values have a smaller font.
   */
  readonly width: readonly [share: number, less: number]
  readonly compare: (one: string, other: string) => number
  readonly isText?: true // shown and typed without quotes
  readonly isNested?: true // shown whole in a popover, and edited with the whole item
}

const literal = { width: [0.88, 1], compare: compareCharacters } as const
const nested = { ...literal, classes: 'faint nested', isNested: true } as const
const atEnd = { classes: 'end', isAtEnd: true } as const

/** In the order of the sort. */
const valueTypes: readonly ValueType[] = [
  { ...atEnd, firsts: '-0123456789', blank: '0', width: [1, 0], compare: compareNumbers },
  { firsts: '"', blank: '""', classes: '', width: [0.93, 2], compare: compareWords, isText: true },
  { ...literal, firsts: 'f', blank: 'false', classes: 'dot faint' },
  { ...literal, firsts: 't', blank: 'false', classes: 'dot good' },
  { ...nested, firsts: '[', blank: '[]' },
  { ...nested, firsts: '{', blank: '{}' },
]
const nullType: ValueType = { ...literal, firsts: 'n', blank: 'null', classes: 'faint slanted' }

/** @param text of a JSON value, or its beginning. */
export function typeOf(text: string): ValueType {
  return valueTypes.find(({ firsts }) => firsts.includes(text.charAt(0))) ?? nullType
}

/** Returns the position among all types, by which values of different types are sorted. */
export function rankOf(type: ValueType): number {
  return type === nullType ? valueTypes.length : valueTypes.indexOf(type)
}

/** Returns a string without quotes and escapes, and any other value as JSON text. */
export function plainText(json: string): string {
  return typeOf(json).isText ? stringOf(json) : json
}

/** Returns the JSON text of what the user has typed in place of a value of this type. */
export function jsonOf({ isText }: ValueType, typed: string): string {
  return isText ? JSON.stringify(typed) : typed.trim()
}

/** Returns JSON text with the same white space for the same value. */
export function tidied(json: string): string {
  return typeOf(json).isNested ? layOut(json) : json
}

/** True if a value fits a one-line field, which hides line breaks and invisible characters. */
export function isEditableInCell(json: string | undefined): boolean {
  if (json === undefined || typeOf(json).isNested) return false
  return !/[\p{C}\p{Zl}\p{Zp}]/u.test(plainText(json))
}

export const longestShown = 200 // characters of a shortened value or item

/**
 * Shortens a member's value. In the result, `text` is JSON without unnecessary escapes. `short` is for a table cell:
 * plain strings (see {@link isPlain}) without quotes, arrays and objects without line breaks.
 * @param text JSON text of the item.
 */
export function shownValue(text: string, { valueStart, end }: Member) {
  const start = text.slice(valueStart, Math.min(end, valueStart + longestShown))
  const cut = end - valueStart > longestShown ? '…' : ''
  // Only arrays and objects contain line breaks and tabs; strings escape them.
  if (!typeOf(start).isText) {
    return { text: start + cut, short: start.replaceAll(/[\n\r\t]\s*/g, '') + cut }
  }
  // Drops half a character or escape at the end.
  const [whole = ''] = /^"(?:[^"\\\p{Surrogate}]|\\u.{4}|\\[^u])*/u.exec(start) ?? []
  const value = stringOf(`${whole}"`) + cut
  const json = JSON.stringify(value)
  return { text: json, short: isPlain(value) ? value : json }
}

/** True if a string is fully visible without quotes, and cannot be mistaken for another type. */
export function isPlain(text: string): boolean {
  const isOther = /^(?:["[{]|(?:[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?|true|false|null)?$)/i
  return !isOther.test(text) && !/^\s|\s$|[\p{C}\p{Zl}\p{Zp}]/u.test(text)
}
