/** Where the columns of a table are, and how wide, from what is in them. @module */

import { useMemo, useRef } from 'preact/hooks'
import { shownName } from './item.js'
import type { Layout } from './layout.js'
import { type Overview, widthOf } from './overview.js'

/** Narrowest column, in characters. */
export const narrowest = 5
/** Space beside the text of a cell, and for the sign of the order, in characters. */
const space = 4
/** A checkbox, the first part of a UUID and the space beside them, in characters. */
const idWidth = 14

export interface Column {
  readonly name: string
  /** From the left, from 0, which is `id`. */
  readonly place: number
  /** Whether it stays in sight when the table is scrolled sideways. */
  readonly isPinned: boolean
  /** Whether its values are numbers. */
  readonly isNumeric: boolean
}

/** What columns there are, and where, in characters. */
export interface Tracks {
  /** From left to right. */
  readonly columns: readonly Column[]
  readonly widths: readonly number[]
  /** Where each of them starts, and where the last one ends. */
  readonly starts: readonly number[]
}

/**
 * None gets narrower by itself, so that little moves under what one reads.
 * @param names of the members that are columns, besides `id`, in order.
 */
export function useTracks(
  names: readonly string[],
  { pinned, widths }: Layout,
  { widths: lengths, notNumeric }: Overview,
): Tracks {
  const widestShown = useRef(new Map<string, number>())
  const columns = useMemo(
    () =>
      ['id', ...names].map((name, place) => {
        const isPinned = place === 0 || pinned.includes(name)
        return { name, place, isPinned, isNumeric: lengths.has(name) && !notNumeric.has(name) }
      }),
    [names, pinned, lengths.size, notNumeric.size],
  )
  const chosen = new Map(widths)
  const tracks = columns.map(({ name }) => {
    if (name === 'id') return chosen.get(name) ?? idWidth
    const length = Math.max(narrowest, widthOf(shownName(name)), lengths.get(name) ?? 0)
    const width = Math.max(length + space, widestShown.current.get(name) ?? 0)
    widestShown.current.set(name, width)
    return chosen.get(name) ?? width
  })
  return useMemo(() => {
    const starts = [0]
    for (const width of tracks) starts.push((starts.at(-1) ?? 0) + width)
    return { columns, widths: tracks, starts }
  }, [columns, tracks.join()])
}
