/** Sorts items by their members, exactly: numbers by their value as it is written, whatever its length. @module */

import { type Item, memberText } from './item.js'
import { stringOf } from './members.js'
import type { Yield } from './yield.js'

export interface SortKey {
  readonly name: string
  readonly isDescending: boolean
}

/** The first key decides; among items that are equal in it, the next one. */
export type Sort = readonly SortKey[]

/** An item, and what it has for each key; `undefined` without that member. */
interface Row {
  readonly item: Item
  readonly values: readonly (Value | undefined)[]
}

export interface Value {
  /** Its place among the types. */
  readonly type: number
  /** What a string says; otherwise the text of the value. */
  readonly text: string
  /** The value of a number whose order among doubles is that of its text. */
  readonly double: number | undefined
}

/** Mixed types, in this order, by their first character; without the member comes last, also when descending. */
const types = ['-0123456789', '"', 'f', 't', '[', '{', 'n']
const number = 0
const string = 1
/** As many digits have a double of their own each; with an exponent, it could be infinite or zero. */
const plainNumber = /^[-.\d]{1,15}$/
/** How many are sorted at once: in less than a millisecond. */
const run = 256

const collator = new Intl.Collator('en')

/**
 * A sorted copy. Items that are equal in all keys stay in their order.
 * @param yieldIfDue awaited again and again; it ends the work by throwing.
 */
export async function sortItems(
  items: readonly Item[],
  sort: Sort,
  yieldIfDue: Yield,
): Promise<Item[]> {
  const order = orderOf(sort)
  const rows: Row[] = []
  for (const item of items) {
    const texts = sort.map(({ name }) => memberText(item, name))
    rows.push({ item, values: texts.map((text) => (text === undefined ? text : sortValue(text))) })
    await yieldIfDue()
  }
  let runs: Row[][] = []
  for (let start = 0; start < rows.length; start += run) {
    runs.push(rows.slice(start, start + run).sort(order))
    await yieldIfDue()
  }
  while (runs.length > 1) {
    const merged: Row[][] = []
    for (let at = 0; at < runs.length; at += 2) {
      merged.push(await merge(runs[at] ?? [], runs[at + 1] ?? [], order, yieldIfDue))
    }
    runs = merged
  }
  return (runs[0] ?? []).map(({ item }) => item)
}

async function merge(
  one: readonly Row[],
  other: readonly Row[],
  order: (one: Row, other: Row) => number,
  yieldIfDue: Yield,
): Promise<Row[]> {
  const all: Row[] = []
  let at = 0
  for (const row of other) {
    for (let next = one[at]; next && order(next, row) <= 0; next = one[at]) {
      all.push(next)
      at += 1
    }
    all.push(row)
    await yieldIfDue()
  }
  return all.concat(one.slice(at))
}

function orderOf(sort: Sort): (one: Row, other: Row) => number {
  return (one, other) => {
    for (const [at, { isDescending }] of sort.entries()) {
      const [value, otherValue] = [one.values[at], other.values[at]]
      if (value && otherValue) {
        const difference = compare(value, otherValue)
        if (difference !== 0) return isDescending ? -difference : difference
      } else if (value !== otherValue) return value ? -1 : 1
    }
    return 0
  }
}

/** What a value is sorted by. @param text in JSON. */
export function sortValue(text: string): Value {
  const type = types.findIndex((first) => first.includes(text.charAt(0)))
  const double = type === number && plainNumber.test(text) ? Number(text) : undefined
  return { type, double, text: type === string ? stringOf(text) : text }
}

/** Their order: negative if the first one comes before the other. */
export function compare(one: Value, other: Value): number {
  if (one.type !== other.type) return one.type - other.type
  if (one.double !== undefined && other.double !== undefined) return one.double - other.double
  if (one.type === number) return compareNumbers(one.text, other.text)
  if (one.type === string) {
    const difference = collator.compare(one.text, other.text)
    if (difference !== 0) return difference
  }
  return one.text < other.text ? -1 : Number(one.text > other.text)
}

/** Compares numbers in JSON by value, without rounding. */
export function compareNumbers(one: string, other: string): number {
  const [a, b] = [decimalOf(one), decimalOf(other)]
  if (a.sign !== b.sign) return a.sign - b.sign
  if (a.exponent !== b.exponent) return a.exponent < b.exponent ? -a.sign : a.sign
  return a.digits === b.digits ? 0 : a.digits < b.digits ? -a.sign : a.sign
}

/** As sign × 0.digits × 10 ^ exponent, without zeros at either end of the digits. */
function decimalOf(text: string) {
  const isNegative = text.startsWith('-')
  const [mantissa = '', power = '0'] = text.slice(isNegative ? 1 : 0).split(/[eE]/)
  const [whole = '', fraction = ''] = mantissa.split('.')
  const written = (whole + fraction).replace(/0+$/, '')
  const digits = written.replace(/^0+/, '')
  if (digits === '') return { sign: 0, exponent: 0n, digits }
  const shift = whole.length - (written.length - digits.length)
  // `BigInt` takes a minus, but no plus, and exponents have any number of digits.
  const exponent = BigInt(power.replace('+', '')) + BigInt(shift)
  return { sign: isNegative ? -1 : 1, exponent, digits }
}
