/** Brings a list that was shown up to date with a newer one. @module */

import { type Item, itemOf } from './item.js'
import type { Pace } from './pace.js'

export interface Merged {
  /** The items of the newer list, those that were shown before in their old order. */
  readonly items: readonly Item[]
  /** Ids of items that are new or have another text. */
  readonly changed: ReadonlySet<string>
  /** How many are gone. */
  readonly gone: number
}

/**
 * A store on Redis lists items in another order each time (spec §4.2), and rows must not jump about.
 * An item that is the same stays the same object.
 * @param pace called after each item.
 */
export async function mergeLists(
  shown: readonly Item[],
  newer: readonly Item[],
  pace: Pace,
): Promise<Merged> {
  const changed = new Set<string>()
  if (shown === newer) return { items: shown, changed, gone: 0 }
  let same = 0
  for (; same < newer.length; same += 1) {
    if (shown[same]?.id !== newer[same]?.id || shown[same]?.text !== newer[same]?.text) break
    await pace()
  }
  if (same === shown.length && same === newer.length) return { items: shown, changed, gone: 0 }

  const rest = new Map<string, Item>()
  for (const item of newer.slice(same)) {
    rest.set(item.id, item)
    await pace()
  }
  const items = shown.slice(0, same)
  /** A copy: its text is a part of what came in with it, which would be kept whole, list after list. */
  const take = ({ text }: Item) => {
    const item = itemOf(structuredClone(text))
    items.push(item)
    changed.add(item.id)
  }
  let gone = 0
  for (const old of shown.slice(same)) {
    const item = rest.get(old.id)
    rest.delete(old.id)
    if (item === undefined) gone += 1
    else if (item.text === old.text) items.push(old)
    else take(item)
    await pace()
  }
  for (const item of rest.values()) {
    take(item)
    await pace()
  }
  return { items, changed, gone }
}
