/** Where the columns of a table are, and how wide, from what is in them. @module */

import { useMemo, useRef } from 'preact/hooks'
import { shownName } from './item.js'
import type { Layout } from './layout.js'
import { widest } from './overview.js'

/** Narrowest column, in characters. */
export const narrowest = 5
/** Space beside the text of a cell, and for the sign of the order, in characters. */
const space = 4
/** A checkbox, a UUID and the space beside them, in characters. */
const idWidth = 42

export interface Column {
  readonly name: string
  /** From the left, from 0, which is `id`. */
  readonly place: number
  /** Whether it stays in sight when the table is scrolled sideways. */
  readonly isPinned: boolean
}

/**
 * The columns from left to right, and their widths in characters. None gets narrower by itself, so that little moves under
 * what one reads.
 * @param names of the members that are columns, besides `id`, in order.
 * @param lengths how many characters their values have.
 */
export function useTracks(
  names: readonly string[],
  { pinned, widths }: Layout,
  lengths: ReadonlyMap<string, number>,
): { readonly columns: readonly Column[]; readonly widths: readonly number[] } {
  const widestShown = useRef(new Map([['id', idWidth]]))
  const columns = useMemo(
    () =>
      ['id', ...names].map((name, place) => {
        return { name, place, isPinned: place === 0 || pinned.includes(name) }
      }),
    [names, pinned],
  )
  const chosen = new Map(widths)
  const tracks = columns.map(({ name }) => {
    const length = Math.max(narrowest, shownName(name).length, lengths.get(name) ?? 0)
    const width = Math.max(Math.min(length, widest) + space, widestShown.current.get(name) ?? 0)
    widestShown.current.set(name, width)
    return chosen.get(name) ?? width
  })
  return { columns, widths: useMemo(() => tracks, [tracks.join()]) }
}

export function sum(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0)
}
