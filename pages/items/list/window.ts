/** Renders only the visible rows of a long list, and keeps them in place. All rows have the same height. @module */

import type { RefObject } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { Item } from '../model/item.js'

const block = 4 // rows rendered together, so that not every scroll event renders
const margin = 12 // rows on either side of the visible ones, so that fast scrolling shows no gaps
const tallest = 16_000_000 // CSS pixels that all browsers can scroll; Firefox has the lowest limit

/**
 * Returns the rows to render, and functions that measure and scroll the list.
 * @param rowHeight height of a row, in CSS pixels.
 */
export function useWindow(
  grid: RefObject<HTMLTableElement | null>,
  rows: readonly Item[],
  rowHeight: number,
) {
  /** Rows that the user can reach by scrolling. Only a search finds those after them. */
  const count = Math.min(rows.length, Math.floor(tallest / rowHeight))
  const [{ first, end }, setRange] = useState({ first: 0, end: 0 })
  /** Visible height of the rows below the head, in CSS pixels. */
  const height = () => {
    const { clientHeight = 0, tHead } = grid.current ?? {}
    return clientHeight - (tHead?.offsetHeight ?? 0)
  }
  const top = () => grid.current?.scrollTop ?? 0
  const draw = () => {
    const toBlock = (row: number) => Math.max(0, Math.min(Math.floor(row / block) * block, count))
    const first = toBlock(top() / rowHeight - margin)
    const end = toBlock((top() + height()) / rowHeight + margin + block)
    // Keeps an equal range, to avoid rendering again.
    setRange((old) => (old.first === first && old.end === end ? old : { first, end }))
  }
  useStablePosition(grid, rows, rowHeight)
  useLayoutEffect(draw, [count, rowHeight])
  return {
    count,
    first,
    end: Math.min(end, count),
    draw,
    /** Returns the first wholly visible row. */
    topRow: () => Math.ceil(top() / rowHeight),
    rowsInView: () => Math.max(1, Math.floor(height() / rowHeight) - 1),
    /** Scrolls as little as possible to make a row visible. */
    reveal(row: number) {
      if (!grid.current) return
      const start = row * rowHeight
      grid.current.scrollTop = Math.min(start, Math.max(top(), start + rowHeight - height()))
      draw()
    },
  }
}

function useStablePosition(
  grid: RefObject<HTMLElement | null>,
  rows: readonly Item[],
  rowHeight: number,
): void {
  const before = useRef({ rows, rowHeight })
  // Browsers change the scroll position when the list becomes shorter, so it is read before.
  const top = (grid.current?.scrollTop ?? 0) / before.current.rowHeight
  useLayoutEffect(() => {
    const old = before.current.rows
    before.current = { rows, rowHeight }
    if (!grid.current) return
    grid.current.scrollTop = (top + rowsMoved(old, rows, Math.floor(top))) * rowHeight
  }, [rows, rowHeight])
}

/** Returns by how many rows a row has moved down or, if it's gone, the next one that is left. */
function rowsMoved(old: readonly Item[], newer: readonly Item[], row: number): number {
  if (row === 0 || old[row]?.id === newer[row]?.id) return 0
  const places = new Map(newer.map(({ id }, place) => [id, place]))
  for (let at = row; at < old.length; at += 1) {
    const place = places.get(old[at]?.id ?? '')
    if (place !== undefined) return place - at
  }
  return 0
}
