/** The table layout: columns, widths and sort order. Browsers store it for each project, without item values. @module */

import { useMemo, useState } from 'preact/hooks'
import { isBoolean, isPart, isString, listOf, store, storedMembers } from '../shared/storage.js'
import type { Sort } from './sort.js'

export interface Layout {
  /** Names of the columns other than `id`; `undefined` for the default columns. */
  readonly names?: readonly string[] | undefined
  /** Names of default columns in the order that the user has given them. Other default columns follow these. */
  readonly order?: readonly string[] | undefined
  /** Widths that the user has set, in characters. They are pairs, not an object, because a name can be `__proto__`. */
  readonly widths: readonly (readonly [name: string, width: number])[]
  readonly sort: Sort
}

export const defaultLayout: Layout = { widths: [], sort: [] }

export function useLayout(project: string | null | undefined) {
  const key = `item-store-table:${project === undefined ? '' : JSON.stringify(project)}`
  const [changed, setChanged] = useState({ key: '', layout: defaultLayout })
  const layout = useMemo(
    () => (changed.key === key ? changed.layout : storedLayout(key)),
    [key, changed],
  )
  function change(part: Partial<Layout>): void {
    setChanged({ key, layout: { ...layout, ...part } })
    // Keeps changes that another browser tab has made to other parts of the layout.
    store('localStorage', key, JSON.stringify({ ...storedLayout(key), ...part }))
  }
  return [layout, change] as const
}

/** Maximum width of a column, in characters. */
export const widest = 400

const isWidth = (value: unknown): value is number =>
  typeof value === 'number' && value > 0 && value <= widest
const isName = (value: unknown): value is string => isString(value) && value !== 'id'
const areNames = (value: unknown): value is readonly string[] =>
  listOf(isName)(value) && new Set(value).size === value.length

function storedLayout(key: string): Layout {
  const known = storedMembers<Required<Layout>>(key, {
    names: areNames,
    order: areNames,
    widths: listOf(
      (value): value is readonly [string, number] =>
        isPart(value) && isString(value[0]) && isWidth(value[1]),
    ),
    sort: listOf(
      (value): value is Sort[number] =>
        isPart(value) && isString(value.name) && isBoolean(value.isDescending),
    ),
  })
  return { ...defaultLayout, ...known }
}

/**
 * Moves the column `name` to the position of the column `target`.
 * @param names names of all columns, from left to right.
 */
export function moved(
  layout: Layout,
  names: readonly string[],
  name: string,
  target: string | undefined,
): Partial<Layout> {
  if (target === undefined || !names.includes(name) || !names.includes(target)) return {}
  const others = names.filter((each) => each !== name)
  const order = others.toSpliced(names.indexOf(target), 0, name)
  return layout.names ? { names: order } : { order }
}

/** @param isAdded whether the column becomes an additional sort key, rather than the only one. */
export function sortedBy(sort: Sort, name: string, isAdded: boolean): Sort {
  const kept = isAdded || sort.length === 1 ? sort : []
  const key = kept.find((each) => each.name === name)
  if (!key) return [...(isAdded ? sort : []), { name, isDescending: false }]
  const turned = key.isDescending ? [] : [{ name, isDescending: true }]
  return kept.flatMap((each) => (each === key ? turned : [each]))
}
