/** Merges a newer list of items into the displayed list. @module */

import { type Item, itemOf } from './item.js'
import type { Yield } from './yield.js'

export interface Part {
  readonly items: readonly Item[]
  readonly all: readonly Item[]
}

/** Updates the filtered or sorted items of an older list: replaces changed items, drops deleted ones. */
export function caughtUp({ items, all }: Part, now: readonly Item[]): readonly Item[] {
  if (all === now) return items
  const newer = new Map(now.map((item) => [item.id, item]))
  return items.flatMap(({ id }) => newer.get(id) ?? [])
}

/**
 * Returns the items of the newer list, and the ids of new or changed items. Items that are already displayed keep their order, because a Redis store lists items in any order (spec §4.2).
 */
export async function mergeLists(
  shown: readonly Item[],
  newer: readonly Item[],
  yieldIfDue: Yield,
) {
  const changed = new Set<string>()
  if (shown === newer) return { items: shown, changed }
  const rest = new Map<string, Item>()
  for (const item of newer) {
    rest.set(item.id, item)
    await yieldIfDue()
  }
  const items: Item[] = []
  /** Copies the text, because a slice would keep a whole chunk of the response in memory. */
  const add = ({ text }: Item) => {
    const item = itemOf(structuredClone(text))
    items.push(item)
    changed.add(item.id)
  }
  for (const old of shown) {
    const item = rest.get(old.id)
    rest.delete(old.id)
    if (item?.text === old.text) items.push(old)
    else if (item) add(item)
    await yieldIfDue()
  }
  for (const item of rest.values()) {
    add(item)
    await yieldIfDue()
  }
  const isSame = changed.size === 0 && items.length === shown.length
  return { items: isSame ? shown : items, changed }
}
