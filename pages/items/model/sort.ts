/** Sorts items by a member. @module */

import { type Item, memberText } from './item.js'
import { plainText, rankOf, typeOf } from './values.js'
import type { Yield } from './yield.js'

export interface Sort {
  readonly name: string
  readonly isDescending: boolean
}

/** An item with its value to sort by; `undefined` if it lacks the member. */
interface Row {
  readonly item: Item
  readonly value: Value | undefined
}

type Value = ReturnType<typeof sortValue>

/** Numbers short enough to compare as doubles. An exponent could make a double infinite or zero. */
const plainNumber = /^[-.\d]{1,15}$/
const run = 256 // items per step of less than a millisecond

/** Returns a sorted copy. Equal items keep their order. An error thrown by `yieldIfDue` stops the sort. */
export async function sortItems(items: readonly Item[], sort: Sort, yieldIfDue: Yield) {
  const order = orderOf(sort)
  const rows: Row[] = []
  for (const item of items) {
    const text = memberText(item, sort.name)
    rows.push({ item, value: text === undefined ? text : sortValue(text) })
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

/** Absent members always come last. */
function orderOf({ isDescending }: Sort): (one: Row, other: Row) => number {
  const sign = isDescending ? -1 : 1
  return ({ value: one }, { value: other }) => {
    if (one && other) return sign * compare(one, other)
    return Number(one === undefined) - Number(other === undefined)
  }
}

export function sortValue(text: string) {
  const type = typeOf(text)
  const double = plainNumber.test(text) ? Number(text) : undefined
  return { type, rank: rankOf(type), double, text: plainText(text) }
}

export function compare(one: Value, other: Value): number {
  if (one.rank !== other.rank) return one.rank - other.rank
  if (one.double !== undefined && other.double !== undefined) return one.double - other.double
  return one.type.compare(one.text, other.text)
}

/** Returns the next order for a chosen member: ascending, descending, then none. */
export function nextSort(now: Sort | undefined, name: string): Sort | undefined {
  if (now?.name !== name) return { name, isDescending: false }
  return now.isDescending ? undefined : { name, isDescending: true }
}
