/** The columns of the table: which ones there are, in which order, and how wide. @module */

import { useMemo } from 'preact/hooks'
import { createState } from '../../shared/state.js'
import { isString, listOf, store, storedMembers } from '../../shared/storage.js'
import { shownName } from '../model/item.js'
import { long, widthOf } from '../model/overview.js'
import { useList, useShape } from './list.js'
import { view } from './view.js'

/** The user's choices. Browsers store them for each project, without item values. */
interface Layout {
  readonly names?: readonly string[] | undefined // other than `id`; `undefined` for the default columns
  /** Names of default columns in the user's order. Other default columns follow. */
  readonly order?: readonly string[] | undefined
  readonly widths?: readonly (readonly [name: string, width: number])[] | undefined // in characters; a name can be `__proto__`
}

export interface Column {
  readonly name: string
  readonly isAtEnd: boolean // all its values are at the end of their cells, and so is its head
}

// Widths are in characters.
const narrowest = 5
const widest = 400 // by dragging
const space = 3 // for the padding of a cell
const sortSpace = 3 // for the sort icon beside the name
export const idWidth = 14 // a checkbox, the first part of a UUID, and the space around them
const leastRest = 24 // for the members without a column of their own

/** Visible width of the table, in characters; `undefined` until it is measured, and for cards, which have room for all. */
export const room = createState<number | undefined>(undefined)

const widestShown = new Map<string, number>()
/** Each project's members in column order, and whether each was common when its column got its place. */
const places = new Map<string | null | undefined, ReadonlyMap<string, boolean>>()

const changed = createState<{ key: string; layout: Layout }>({ key: '', layout: {} })

function keyNow(): string {
  const { project } = view.get()
  return `item-store-table:${project === undefined ? '' : JSON.stringify(project)}`
}

function layoutNow(): Layout {
  const { key, layout } = changed.get()
  return key === keyNow() ? layout : storedLayout(keyNow())
}

export function resize(name: string, width: number | undefined): void {
  const { widths = [] } = layoutNow()
  const others = widths.filter(([each]) => each !== name)
  const own = width && ([name, Math.min(widest, Math.max(narrowest, width))] as const)
  changeLayout({ widths: own ? [...others, own] : others })
}

export function changeLayout(part: Layout | undefined): void {
  const key = keyNow()
  const layout = part ? { ...layoutNow(), ...part } : {}
  changed.set({ key, layout })
  store('localStorage', key, JSON.stringify(layout))
}

const isName = (value: unknown): value is string => isString(value) && value !== 'id'
const areNames = (value: unknown): value is readonly string[] =>
  listOf(isName)(value) && new Set(value).size === value.length

function storedLayout(key: string): Layout {
  return storedMembers<Required<Layout>>(key, {
    names: areNames,
    order: areNames,
    widths: listOf(
      (pair): pair is readonly [string, number] =>
        Array.isArray(pair) && isString(pair[0]) && pair[1] >= narrowest && pair[1] <= widest,
    ),
  })
}

/** Moves a column to the position of another one. @param names of all columns. */
export function moveColumn(names: readonly string[], name: string, target: string | undefined) {
  if (target === undefined || !names.includes(name) || !names.includes(target)) return
  const others = names.filter((each) => each !== name)
  const order = others.toSpliced(names.indexOf(target), 0, name)
  changeLayout(layoutNow().names ? { names: order } : { order })
}

/**
 * Returns the columns from left to right: those the user has chosen, or else as many as fit. Columns keep their order
 * and never become narrower by themselves, so that text moves little. While the list is incomplete, columns may change
 * places.
 */
export function useColumns() {
  const shape = useShape()
  const isListed = useList().listedAt !== undefined
  const { project, sort } = view.use()
  const latest = changed.use()
  const layout = useMemo(layoutNow, [project, latest])
  const { widths: lengths, notAtEnd, names: found } = shape
  const all = useMemo(() => {
    const before = places.get(project) ?? new Map<string, boolean>()
    const now = new Map(['project_id', ...found].map((name) => [name, shape.isCommon(name)]))
    const ordered = new Map([...before, ...now, ...before].filter(([name]) => now.has(name)))
    if (isListed) places.set(project, ordered)
    return ordered
  }, [project, found, isListed])

  const widthOfColumn = (name: string) => {
    const head = widthOf(shownName(name)) + (sort?.name === name ? sortSpace : 0)
    const length = Math.max(narrowest, head, lengths.get(name) ?? 0)
    const width = Math.max(length + space, widestShown.get(name) ?? 0)
    widestShown.set(name, width)
    return width
  }
  const chosen = new Map(layout.widths)
  const ordered = layout.order?.filter((name) => all.has(name)) ?? []
  const candidates = layout.names ?? [...new Set([...ordered, ...all.keys()])]
  const total = candidates.reduce((sum, name) => sum + widthOfColumn(name), 0)
  let left = (room.use() ?? Number.POSITIVE_INFINITY) - idWidth
  const areAll = layout.names !== undefined || total <= left
  left -= leastRest
  const common = areAll ? candidates : candidates.filter((name) => all.get(name))
  const end = areAll
    ? -1
    : common.findIndex((name) => {
        left -= widthOfColumn(name)
        return left < 0
      })
  const names = end < 0 ? common : common.slice(0, Math.max(1, end))
  const hidden = [...all.keys()].filter((name) => !names.includes(name)).length
  // The rest of the width goes to other members, or to columns with long values, or to the last column.
  const growing =
    hidden > 0 ? [] : names.filter((name) => (lengths.get(name) ?? 0) >= long && !chosen.has(name))
  if (hidden === 0 && growing.length === 0) growing.push(names.at(-1) ?? '')
  const widths = names.map((name) => chosen.get(name) ?? widthOfColumn(name))
  const tracks = [`${idWidth}ch`].concat(
    names.map((name, at) =>
      growing.includes(name) ? `minmax(${widths[at]}ch,1fr)` : `${widths[at]}ch`,
    ),
  )
  if (hidden > 0) tracks.push(`minmax(${leastRest}ch,1fr)`)
  const width = widths.reduce((sum, each) => sum + each, idWidth + (hidden > 0 ? leastRest : 0))
  const columns = useMemo(
    () =>
      ['id', ...names].map((name): Column => {
        return { name, isAtEnd: lengths.has(name) && !notAtEnd.has(name) }
      }),
    [JSON.stringify(names), lengths.size, notAtEnd.size],
  )
  return { columns, tracks: tracks.join(' '), width: `${width}ch`, hidden }
}
