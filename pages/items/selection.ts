/** The selected items, to be deleted, exported or copied together. @module */

import { useMemo, useRef, useState } from 'preact/hooks'
import type { Item } from './item.js'

interface Range {
  readonly start: string
  readonly end: string
  /** Ids of the selected items before this range was added. */
  readonly before: ReadonlySet<string>
  /** Ids of the selected items, including this range. */
  readonly after: ReadonlySet<string>
}

const nothing: ReadonlySet<string> = new Set()

export function useSelection(rows: readonly Item[]) {
  const [ids, setIds] = useState(nothing)
  const latest = useRef<Range>(undefined)
  const has = ({ id }: Item) => ids.has(id)
  const items = useMemo(() => (ids.size === 0 ? [] : rows.filter(has)), [ids, rows, rows.length])
  const rowOf = (id: string) => rows.findIndex((row) => row.id === id)
  return {
    has,
    /** Selected items that match the filter, in the order of the rows. Actions affect only these items. */
    items,
    toggle({ id }: Item) {
      const changed = new Set(ids)
      if (!changed.delete(id)) changed.add(id)
      setIds(changed)
    },
    /** Selects the rows from one item to another. If the latest range ends at `from`, moves its end to `to` instead. */
    extend(from: Item, to: Item) {
      const range = latest.current
      const isSame = range?.after === ids && range.end === from.id
      const { start, before } = isSame ? range : { start: from.id, before: ids }
      const after = new Set(before)
      const [first = 0, last = 0] = [rowOf(start), rowOf(to.id)].sort((one, other) => one - other)
      for (const { id } of rows.slice(Math.max(0, first), last + 1)) after.add(id)
      latest.current = { start, end: to.id, before, after }
      setIds(after)
    },
    selectAll: () => setIds(new Set(rows.map(({ id }) => id))),
    clear: () => setIds(nothing),
  }
}

/** Returns the nearest remaining item below `item`, or else the nearest above. @param deleted ids of deleted items. */
export function nextTo(items: readonly Item[], item: Item, deleted: ReadonlySet<string>) {
  const place = items.findIndex(({ id }) => id === item.id)
  const isLeft = ({ id }: Item) => !deleted.has(id)
  return (
    items.slice(Math.max(0, place)).find(isLeft) ??
    items.slice(0, Math.max(0, place)).findLast(isLeft)
  )
}
