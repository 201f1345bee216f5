/** Computes the positions of the table's columns, and their widths from the values in them. @module */

import { useMemo, useRef } from 'preact/hooks'
import { shownName } from './item.js'
import { inOrder, type Layout } from './layout.js'
import { long, type Shape, widthOf } from './overview.js'

/** Minimum width of a column, in characters. */
export const narrowest = 5
/** Width to add to a column for cell padding, in characters. */
const space = 3
/** Width to add to the name of a sorted column for the icon and the number of the sort key, in characters. */
const sortSpace = 4
/** Width of the id column in characters: a checkbox, the first part of a UUID, and the space beside them. */
const idWidth = 14
/** Minimum visible fraction of the last column if its values are long. */
const leastPart = 0.5
/** Minimum width of a column that lists the members without a column, in characters. */
const leastRest = 24
/** Width of the column header that shows how many members have no column, in characters. */
export const moreWidth = 6

/** Column of the table. `place` is its index from the left; the `id` column has 0. */
export type Column = ReturnType<typeof useTracks>['columns'][number]

/**
 * Returns the chosen columns, or as many members as fit, from left to right, with positions and widths in characters.
 * Columns keep their places and never become narrower by themselves, so that the text moves little while people read.
 * @param room width for the columns, in characters; `undefined` while it is not known.
 * @param isListed whether the list is complete. In an incomplete list, columns may change places.
 */
export function useTracks(
  project: string | null | undefined,
  shape: Shape,
  layout: Layout,
  room: number | undefined,
  isListed: boolean,
) {
  const { widths: lengths, notNumeric, names: found } = shape
  const widestShown = useRef(new Map<string, number>())
  /** Members of each project in the order of their appearance, and whether most items had the member then. */
  const places = useRef(new Map<typeof project, ReadonlyMap<string, boolean>>())
  const all = useMemo(() => {
    const before = places.current.get(project) ?? new Map<string, boolean>()
    const now = new Map(['project_id', ...found].map((name) => [name, shape.isCommon(name)]))
    const ordered = new Map([...before, ...now, ...before].filter(([name]) => now.has(name)))
    if (isListed) places.current.set(project, ordered)
    return ordered
  }, [project, found, isListed])

  const widthOfColumn = (name: string) => {
    if (name === 'id') return idWidth
    const head =
      widthOf(shownName(name)) + (layout.sort.some((key) => key.name === name) ? sortSpace : 0)
    const length = Math.max(narrowest, head, lengths.get(name) ?? 0)
    const width = Math.max(length + space, widestShown.current.get(name) ?? 0)
    widestShown.current.set(name, width)
    return width
  }
  const isLong = (name: string) => (lengths.get(name) ?? 0) >= long
  const candidates = inOrder(layout.names ?? [...all.keys()], layout.pinned)
  const isCommon = (name: string) => all.get(name) || layout.pinned.includes(name)
  const total = candidates.reduce((sum, name) => sum + widthOfColumn(name), 0)
  let left = (room ?? Infinity) - idWidth
  const areAll = layout.names !== undefined || total <= left
  left -= moreWidth
  const common = areAll ? candidates : candidates.filter(isCommon)
  const end = areAll
    ? -1
    : common.findIndex((name) => {
        left -= widthOfColumn(name)
        return left < 0
      })
  const cut = common[end]
  // The last column may be narrower than its longest values, so that little space is wasted.
  const last = cut !== undefined && isLong(cut) ? widthOfColumn(cut) + left : 0
  const isCut = cut !== undefined && last >= widthOfColumn(cut) * leastPart
  const fit = end < 0 ? common : common.slice(0, Math.max(1, isCut ? end + 1 : end))
  const hasRest = !areAll && end < 0 && left >= leastRest
  const shown = JSON.stringify(fit)
  const columns = useMemo(
    () =>
      ['id', ...fit].map((name, place) => {
        const isPinned = place === 0 || layout.pinned.includes(name)
        return { name, place, isPinned, isNumeric: lengths.has(name) && !notNumeric.has(name) }
      }),
    [shown, layout.pinned, lengths.size, notNumeric.size],
  )
  const chosen = new Map(layout.widths)
  const tracks = columns.map(
    ({ name }) => chosen.get(name) ?? (isCut && name === cut ? last : widthOfColumn(name)),
  )
  const hidden = [...all.keys()].filter((name) => !fit.includes(name)).length
  // The remaining width goes to the list of other members, to long values, or else to the last column.
  const growing = hasRest ? [] : fit.filter((name) => isLong(name) && !chosen.has(name))
  if (!hasRest && growing.length === 0) growing.push(fit.at(-1) ?? 'id')
  const grown = growing.join()
  return useMemo(() => {
    const starts = [0]
    for (const width of tracks) starts.push((starts.at(-1) ?? 0) + width)
    const css = columns.map(({ name }, place) =>
      growing.includes(name) ? `minmax(${tracks[place]}ch,1fr)` : `${tracks[place]}ch`,
    )
    if (hidden > 0) css.push(hasRest ? 'minmax(0,1fr)' : `${moreWidth}ch`)
    return {
      columns,
      names: columns.slice(1).map(({ name }) => name),
      widths: tracks,
      starts,
      hidden,
      hasRest,
      css: css.join(' '),
    }
  }, [columns, tracks.join(), hidden, hasRest, grown])
}
