/** Keeps pinned cells in sight when the table is scrolled sideways. @module */

import type { RefObject } from 'preact'
import { useRef } from 'preact/hooks'

/** How long after the latest step sideways the cells are put in their place, in milliseconds. */
const settled = 150

/**
 * `position: sticky` keeps them, but makes a layer of each cell, so that scrolling takes twice as long. It is used only
 * while the table moves sideways, in the rows that can be seen; afterwards the cells are moved by how far it is scrolled.
 * @param rowHeight in CSS pixels.
 * @returns is to be called when the table has been scrolled.
 */
export function usePins(grid: RefObject<HTMLTableElement | null>, rowHeight: number): () => void {
  const left = useRef(0)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  return () => {
    const table = grid.current
    if (!table || table.scrollLeft === left.current) return
    const { scrollLeft, scrollTop, clientHeight } = table
    left.current = scrollLeft
    for (const row of table.rows) {
      const top = (Number(row.ariaRowIndex) - 2) * rowHeight - scrollTop
      row.toggleAttribute(
        'data-moving',
        top < clientHeight && (top > -rowHeight || row.ariaRowIndex === '1'),
      )
    }
    clearTimeout(timer.current)
    timer.current = setTimeout(() => {
      table.style.setProperty('--scrolled', `${scrollLeft}px`)
      for (const row of table.rows) row.removeAttribute('data-moving')
    }, settled)
  }
}
