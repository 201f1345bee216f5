/** Computes the positions of the table's columns, and their widths from the values in them. @module */

import { useMemo, useRef } from 'preact/hooks'
import { shownName } from './item.js'
import { inOrder, type Layout } from './layout.js'
import { type Shape, widthOf } from './overview.js'

/** Minimum width of a column, in characters. */
export const narrowest = 5
/** Space beside the text of a cell and for the sort icon of a head, in characters. */
const space = 3
/** Width of the id column in characters: a checkbox, the first part of a UUID, and the space beside them. */
const idWidth = 14
/** Smallest part of its width with which the last column is still shown, rather than counted. */
const leastPart = 0.5
/** Width of the head that counts the members without a column, in characters. */
export const moreWidth = 6

export interface Column {
  readonly name: string
  /** Index of the column from the left; 0 for `id`. */
  readonly place: number
  /** Whether the column stays in view when the table is scrolled sideways. */
  readonly isPinned: boolean
  /** Whether all values of the column are numbers. */
  readonly isNumeric: boolean
}

/** Columns of the table, with their positions and widths in characters. */
export interface Tracks {
  /** Columns from left to right. */
  readonly columns: readonly Column[]
  readonly names: readonly string[]
  readonly widths: readonly number[]
  /** Start of each column, and the end of the last column. */
  readonly starts: readonly number[]
  /** Number of members of the first items that have no column. */
  readonly hidden: number
}

/**
 * Returns the columns that the user has chosen, or as many members as there is room for, in the order in which they
 * first appear. While the page is open, columns keep their places and never become narrower by themselves, so that the
 * text moves little while people read.
 * @param room width for the columns, in characters; `undefined` while it is not known.
 */
export function useTracks(
  project: string | null | undefined,
  shape: Shape,
  layout: Layout,
  room: number | undefined,
): Tracks {
  const { widths: lengths, notNumeric, names: found } = shape
  const widestShown = useRef(new Map<string, number>())
  const places = useRef(new Map<typeof project, ReadonlySet<string>>())
  const all = useMemo(() => {
    const now = new Set(['project_id', ...found])
    const before = [...(places.current.get(project) ?? [])].filter((name) => now.has(name))
    const ordered = new Set([...before, ...now])
    places.current.set(project, ordered)
    return [...ordered]
  }, [project, found])

  const widthOfColumn = (name: string) => {
    if (name === 'id') return idWidth
    const length = Math.max(narrowest, widthOf(shownName(name)), lengths.get(name) ?? 0)
    const width = Math.max(length + space, widestShown.current.get(name) ?? 0)
    widestShown.current.set(name, width)
    return width
  }
  const candidates = inOrder(layout.names ?? all, layout.pinned)
  const { count, last } =
    layout.names || room === undefined
      ? { count: candidates.length }
      : fitting(candidates.map(widthOfColumn), room)
  const shown = JSON.stringify(candidates.slice(0, count))
  const columns = useMemo(
    () =>
      ['id', ...candidates.slice(0, count)].map((name, place) => {
        const isPinned = place === 0 || layout.pinned.includes(name)
        return { name, place, isPinned, isNumeric: lengths.has(name) && !notNumeric.has(name) }
      }),
    [shown, layout.pinned, lengths.size, notNumeric.size],
  )
  const chosen = new Map(layout.widths)
  const tracks = columns.map(
    ({ name, place }) =>
      chosen.get(name) ?? (place === count ? last : undefined) ?? widthOfColumn(name),
  )
  const hidden = all.filter((name) => !columns.some((column) => column.name === name)).length
  return useMemo(() => {
    const starts = [0]
    for (const width of tracks) starts.push((starts.at(-1) ?? 0) + width)
    return {
      columns,
      names: columns.slice(1).map(({ name }) => name),
      widths: tracks,
      starts,
      hidden,
    }
  }, [columns, tracks.join(), hidden])
}

/**
 * Returns how many columns fit beside the id, at least 1. If not all fit, a further head counts the rest, and the last
 * column may be narrower than its values, so that little of the room is left empty.
 */
function fitting(widths: readonly number[], room: number): { count: number; last?: number } {
  let left = room - idWidth
  if (widths.reduce((sum, width) => sum + width, 0) <= left) return { count: widths.length }
  left -= moreWidth
  let count = 0
  for (const width of widths) {
    if (left < Math.max(narrowest + space, width * leastPart)) break
    count += 1
    if (left < width) return { count, last: left }
    left -= width
  }
  return { count: Math.max(1, count) }
}
