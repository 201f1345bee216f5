/** Keeps what is looked at in place while the list around it changes. @module */

import type { RefObject } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import type { Item } from './item.js'

/**
 * When rows are added or removed, or all change their height, the row at the top stays in place; if it is
 * gone, the next row that is still there.
 */
export function useStablePosition(
  grid: RefObject<HTMLElement | null>,
  items: readonly Item[],
  rowHeight: number,
): void {
  const before = useRef(items)
  const heightBefore = useRef(rowHeight)
  // Read before the rows are rendered: with fewer rows, the browser would scroll back to their end.
  const top = (grid.current?.scrollTop ?? 0) / heightBefore.current
  useLayoutEffect(() => {
    const old = before.current
    before.current = items
    heightBefore.current = rowHeight
    if (!grid.current) return
    const row = Math.floor(top)
    grid.current.scrollTop = (top + rowsMoved(old, items, row)) * rowHeight
  }, [items, rowHeight])
}

/** How far a row has moved in a newer list, or else the first row after it that is in both. */
function rowsMoved(old: readonly Item[], newer: readonly Item[], row: number): number {
  if (row === 0 || old[row]?.id === newer[row]?.id) return 0
  const places = new Map(newer.map(({ id }, place) => [id, place]))
  for (let at = row; at < old.length; at += 1) {
    const place = places.get(old[at]?.id ?? '')
    if (place !== undefined) return place - at
  }
  return 0
}
