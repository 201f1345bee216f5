/** The selected items, to be deleted, exported or copied together. @module */

import { useMemo } from 'preact/hooks'
import { createState } from '../../shared/state.js'
import type { Item } from '../model/item.js'

interface Range {
  readonly start: string
  readonly end: string
  readonly before: ReadonlySet<string> // ids selected before this range was added
  readonly after: ReadonlySet<string> // ids selected with this range
}

const nothing: ReadonlySet<string> = new Set()

export const selectedIds = createState(nothing)

let latest: Range | undefined

/** Returns the selected items among the rows, in their order. Actions affect only these. */
export function useSelected(rows: readonly Item[]): readonly Item[] {
  const ids = selectedIds.use()
  return useMemo(
    () => (ids.size === 0 ? [] : rows.filter(({ id }) => ids.has(id))),
    [ids, rows, rows.length],
  )
}

export function toggle({ id }: Item): void {
  const changed = new Set(selectedIds.get())
  if (!changed.delete(id)) changed.add(id)
  selectedIds.set(changed)
}

/** Selects the rows from one item to another. If the latest range ends at `from`, moves its end to `to`. */
export function extend(rows: readonly Item[], from: Item, to: Item): void {
  const ids = selectedIds.get()
  const rowOf = (id: string) => rows.findIndex((row) => row.id === id)
  const isSame = latest?.after === ids && latest.end === from.id
  const { start, before } = isSame && latest ? latest : { start: from.id, before: ids }
  const after = new Set(before)
  const [first = 0, last = 0] = [rowOf(start), rowOf(to.id)].sort((one, other) => one - other)
  for (const { id } of rows.slice(Math.max(0, first), last + 1)) after.add(id)
  latest = { start, end: to.id, before, after }
  selectedIds.set(after)
}

export function selectAll(rows: readonly Item[]): void {
  selectedIds.set(new Set(rows.map(({ id }) => id)))
}

export function selectNone(): void {
  selectedIds.set(nothing)
}
