/** Computes the order and positions of table columns, and their widths, which depend on their values. @module */

import { useMemo, useRef } from 'preact/hooks'
import { shownName } from './item.js'
import type { Layout } from './layout.js'
import { long, type Shape, widthOf } from './overview.js'

/** Minimum width of a column, in characters. */
export const narrowest = 5
/** Width that cell padding adds to a column, in characters. */
const space = 3
/** Width that the sort icon and the number of the sort key add to a column's name, in characters. */
const sortSpace = 4
/** Width of the id column in characters: a checkbox, the first part of a UUID, and the space around them. */
const idWidth = 14
/** Fraction of a last column with long values that must fit for the column to be shown. */
const leastPart = 0.5
/** Minimum width of the column that lists members without a column of their own, in characters. */
const leastRest = 24
/** Width of the header cell that shows how many members have no column, in characters. */
export const moreWidth = 6

/** A table column. `place` is its index from the left, which is 0 for the `id` column. */
export type Column = ReturnType<typeof useTracks>['columns'][number]

/**
 * Returns the columns from left to right: those the user has chosen, or else as many as fit. Positions and widths are
 * in characters. Columns keep their order and never become narrower by themselves, so that text moves little.
 * @param room available width, in characters; `undefined` while the width is unknown.
 * @param isListed whether the list is complete. While it is incomplete, columns may change places.
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
  /** Each project's members in column order, and whether each member was common when its column got its place. */
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
  const ordered = layout.order?.filter((name) => all.has(name)) ?? []
  const candidates = layout.names ?? [...new Set([...ordered, ...all.keys()])]
  const total = candidates.reduce((sum, name) => sum + widthOfColumn(name), 0)
  let left = (room ?? Infinity) - idWidth
  const areAll = layout.names !== undefined || total <= left
  left -= moreWidth
  const common = areAll ? candidates : candidates.filter((name) => all.get(name))
  const end = areAll
    ? -1
    : common.findIndex((name) => {
        left -= widthOfColumn(name)
        return left < 0
      })
  const cut = common[end]
  // The last column may cut off long values, so that little space is wasted.
  const last = cut !== undefined && isLong(cut) ? widthOfColumn(cut) + left : 0
  const isCut = cut !== undefined && last >= widthOfColumn(cut) * leastPart
  const fit = end < 0 ? common : common.slice(0, Math.max(1, isCut ? end + 1 : end))
  const hasRest = !areAll && end < 0 && left >= leastRest
  const shown = JSON.stringify(fit)
  const columns = useMemo(
    () =>
      ['id', ...fit].map((name, place) => {
        return { name, place, isNumeric: lengths.has(name) && !notNumeric.has(name) }
      }),
    [shown, lengths.size, notNumeric.size],
  )
  const chosen = new Map(layout.widths)
  const tracks = columns.map(
    ({ name }) => chosen.get(name) ?? (isCut && name === cut ? last : widthOfColumn(name)),
  )
  const hidden = [...all.keys()].filter((name) => !fit.includes(name)).length
  // The remaining width goes to the column that lists other members, or to columns with long values, or to the last.
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
