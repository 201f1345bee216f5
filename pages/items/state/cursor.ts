/** The active cell, to which the keyboard shortcuts apply. @module */

import { createState } from '../../shared/state.js'
import type { Item } from '../model/item.js'

interface Cursor {
  readonly item: Item | undefined
  readonly column: string
}

export const cursor = createState<Cursor>({ item: undefined, column: 'id' })

/** Columns of the list from left to right, without the id. */
export const columnNames = createState<readonly string[]>([])

export function moveTo(part: Partial<Cursor>): void {
  cursor.set({ ...cursor.get(), ...part })
}

/** Moves the active cell along its row. @param by columns to the right; negative to the left. */
export function moveAside(by: number): void {
  const names = ['id', ...columnNames.get()]
  const column = names[Math.max(0, names.indexOf(cursor.get().column) + by)]
  if (column !== undefined) moveTo({ column })
}
