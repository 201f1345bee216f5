/** Merges a newer list of items into the displayed list. @module */

import { type Item, itemOf } from './item.js'
import type { Yield } from './yield.js'

export interface Part {
  readonly items: readonly Item[]
  readonly all: readonly Item[]
}

/** Updates the filtered or sorted items of an older list: replaces changed items, drops deleted ones. */
export function caughtUp({ items, all: before }: Part, now: readonly Item[]): readonly Item[] {
  let start = 0
  while (start < before.length && before[start] === now[start]) start += 1
  let end = 0
  const most = Math.min(before.length, now.length) - start
  while (end < most && before.at(-1 - end) === now.at(-1 - end)) end += 1
  const old = new Set(before.slice(start, before.length - end))
  if (old.size === 0) return items
  const newer = new Map(now.slice(start, now.length - end).map((item) => [item.id, item]))
  return items.flatMap((item) => (old.has(item) ? (newer.get(item.id) ?? []) : item))
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
  let same = 0
  for (; same < newer.length; same += 1) {
    if (shown[same]?.id !== newer[same]?.id || shown[same]?.text !== newer[same]?.text) break
    await yieldIfDue()
  }
  if (same === shown.length && same === newer.length) return { items: shown, changed }

  const rest = new Map<string, Item>()
  for (const item of newer.slice(same)) {
    rest.set(item.id, item)
    await yieldIfDue()
  }
  const items = shown.slice(0, same)
  /** Copies the text, because a slice would keep a whole chunk of the response in memory. */
  const add = ({ text }: Item) => {
    const item = itemOf(structuredClone(text))
    items.push(item)
    changed.add(item.id)
  }
  for (const old of shown.slice(same)) {
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
  return { items, changed }
}
