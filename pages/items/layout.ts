/** Columns, widths and sort order of the table, which the browser stores per project, without values. @module */

import { useMemo, useState } from 'preact/hooks'
import { store, stored } from '../shared/storage.js'
import type { Sort } from './sort.js'

export interface Layout {
  /** Names of the columns besides `id`; `undefined` for the default columns. */
  readonly names?: readonly string[] | undefined
  readonly pinned: readonly string[]
  /** Changed widths, in characters, as pairs instead of an object, because a name can be `__proto__`. */
  readonly widths: readonly (readonly [name: string, width: number])[]
  readonly sort: Sort
}

export const defaultLayout: Layout = { pinned: [], widths: [], sort: [] }

export function useLayout(project: string | null | undefined) {
  const key = `item-store-table:${project === undefined ? '' : JSON.stringify(project)}`
  const [changed, setChanged] = useState({ key: '', layout: defaultLayout })
  const layout = useMemo(
    () => (changed.key === key ? changed.layout : storedLayout(key)),
    [key, changed],
  )
  function change(part: Partial<Layout>): void {
    setChanged({ key, layout: { ...layout, ...part } })
    // Keeps the changes that another tab has made to other parts of the layout.
    store('localStorage', key, JSON.stringify({ ...storedLayout(key), ...part }))
  }
  return [layout, change] as const
}

function storedLayout(key: string): Layout {
  const text = stored('localStorage', key)
  return { ...defaultLayout, ...(text && (JSON.parse(text) as Layout)) } // trusted, because only this page stores layouts
}

export function inOrder(names: readonly string[], pinned: readonly string[]): readonly string[] {
  const isPinned = (name: string) => pinned.includes(name)
  return [...names.filter(isPinned), ...names.filter((name) => !isPinned(name))]
}

/**
 * Moves a column to the position of `target`, and pins it if `target` is pinned.
 * @param names in the order of the columns.
 */
export function moved(
  names: readonly string[],
  pinned: readonly string[],
  name: string,
  target: string | undefined,
): Partial<Layout> {
  if (target === undefined || !names.includes(name) || !names.includes(target)) return {}
  const others = names.filter((each) => each !== name)
  return {
    names: others.toSpliced(names.indexOf(target), 0, name),
    pinned: [...pinned.filter((each) => each !== name), ...(pinned.includes(target) ? [name] : [])],
  }
}

/** @param isAdded whether the column becomes a further sort key, rather than the only one. */
export function sortedBy(sort: Sort, name: string, isAdded: boolean): Sort {
  const kept = isAdded || sort.length === 1 ? sort : []
  const key = kept.find((each) => each.name === name)
  if (!key) return [...(isAdded ? sort : []), { name, isDescending: false }]
  const turned = key.isDescending ? [] : [{ name, isDescending: true }]
  return kept.flatMap((each) => (each === key ? turned : [each]))
}
