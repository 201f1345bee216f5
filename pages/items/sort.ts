/** Sorts items by a member, exactly: numbers by their value as it is written, however many digits that has. @module */

import { type Item, memberText } from './item.js'
import { stringOf } from './members.js'
import type { Yield } from './yield.js'

export interface Sort {
  /** The member to sort by. */
  readonly name: string
  readonly isDescending: boolean
}

/** What an item is sorted by. */
interface Key {
  readonly item: Item
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
 * A sorted copy. Items that are equal in this stay in their order.
 * @param yieldIfDue awaited again and again; it ends the work by throwing.
 */
export async function sortItems(
  items: readonly Item[],
  { name, isDescending }: Sort,
  yieldIfDue: Yield,
): Promise<Item[]> {
  const keys: Key[] = []
  const absent: Item[] = []
  for (const item of items) {
    const text = memberText(item, name)
    if (text === undefined) absent.push(item)
    else keys.push(keyOf(item, text))
    await yieldIfDue()
  }
  const order = (one: Key, other: Key) => compare(one, other) * (isDescending ? -1 : 1)
  let runs: Key[][] = []
  for (let start = 0; start < keys.length; start += run) {
    runs.push(keys.slice(start, start + run).sort(order))
    await yieldIfDue()
  }
  while (runs.length > 1) {
    const merged: Key[][] = []
    for (let at = 0; at < runs.length; at += 2) {
      merged.push(await merge(runs[at] ?? [], runs[at + 1] ?? [], order, yieldIfDue))
    }
    runs = merged
  }
  return [...(runs[0] ?? []).map(({ item }) => item), ...absent]
}

async function merge(
  one: readonly Key[],
  other: readonly Key[],
  order: (one: Key, other: Key) => number,
  yieldIfDue: Yield,
): Promise<Key[]> {
  const all: Key[] = []
  let at = 0
  for (const key of other) {
    for (let next = one[at]; next && order(next, key) <= 0; next = one[at]) {
      all.push(next)
      at += 1
    }
    all.push(key)
    await yieldIfDue()
  }
  return all.concat(one.slice(at))
}

function keyOf(item: Item, text: string): Key {
  const type = types.findIndex((first) => first.includes(text.charAt(0)))
  const double = type === number && plainNumber.test(text) ? Number(text) : undefined
  return { item, type, double, text: type === string ? stringOf(text) : text }
}

function compare(one: Key, other: Key): number {
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
