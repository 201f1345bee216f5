/** The active cell, to which the keyboard shortcuts apply. @module */

import { createState } from '../../shared/state.js'
import type { Item } from '../model/item.js'

interface Cursor {
  readonly id: string | undefined // of the item
  readonly column: string
}

export const cursor = createState<Cursor>({ id: undefined, column: 'id' })

export function moveTo(part: Partial<Cursor>): void {
  cursor.set({ ...cursor.get(), ...part })
}

/** Moves the active cell along its row. @param by columns to the right; negative to the left. */
export function moveAside(columns: readonly { name: string }[], by: number): void {
  const names = columns.map(({ name }) => name)
  const column = names[Math.max(0, names.indexOf(cursor.get().column) + by)]
  if (column !== undefined) moveTo({ column })
}

/** Moves from a deleted item to the nearest one below that is left, or else above. @param rows from before. */
export function moveOn(deleted: ReadonlySet<string>, rows: readonly Item[]): void {
  const active = cursor.get().id
  if (active === undefined || !deleted.has(active)) return
  const place = Math.max(
    0,
    rows.findIndex(({ id }) => id === active),
  )
  const isLeft = ({ id }: Item) => !deleted.has(id)
  moveTo({ id: (rows.slice(place).find(isLeft) ?? rows.slice(0, place).findLast(isLeft))?.id })
}
