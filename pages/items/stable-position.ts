/** Keeps the visible rows in place when the list changes. @module */

import type { RefObject } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import type { Item } from './item.js'

export function useStablePosition(
  grid: RefObject<HTMLElement | null>,
  items: readonly Item[],
  rowHeight: number,
): void {
  const before = useRef(items)
  const heightBefore = useRef(rowHeight)
  // Reads the scroll position before rendering, because browsers change it when the list becomes shorter.
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

/** Returns by how many rows a row has moved down. If the row was removed, uses the next remaining row instead. */
function rowsMoved(old: readonly Item[], newer: readonly Item[], row: number): number {
  if (row === 0 || old[row]?.id === newer[row]?.id) return 0
  const places = new Map(newer.map(({ id }, place) => [id, place]))
  for (let at = row; at < old.length; at += 1) {
    const place = places.get(old[at]?.id ?? '')
    if (place !== undefined) return place - at
  }
  return 0
}
