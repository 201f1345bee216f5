/** How a table is laid out, remembered in this browser for each project: names of columns, and nothing of items. @module */

import { useMemo, useState } from 'preact/hooks'
import { store, stored } from '../shared/storage.js'
import type { Sort } from './sort.js'

export interface Layout {
  /** Names of the members that are columns, besides `id`; `undefined` for the default ones. */
  readonly names?: readonly string[] | undefined
  /** Which of them stay in sight beside `id`. */
  readonly pinned: readonly string[]
  /** The widths that differ from the default, in characters; pairs, as a name can be `__proto__`. */
  readonly widths: readonly (readonly [name: string, width: number])[]
  readonly sort: Sort
}

export const defaultLayout: Layout = { pinned: [], widths: [], sort: [] }

/** The layout for a project, and how to change parts of it. */
export function useLayout(
  project: string | null | undefined,
): [layout: Layout, change: (part: Partial<Layout>) => void] {
  const key = `item-store-table:${project === undefined ? '' : JSON.stringify(project)}`
  const [changed, setChanged] = useState({ key: '', layout: defaultLayout })
  const layout = useMemo(
    () => (changed.key === key ? changed.layout : storedLayout(key)),
    [key, changed],
  )
  return [
    layout,
    (part) => {
      setChanged({ key, layout: { ...layout, ...part } })
      // Another tab may have stored other parts meanwhile: they stay, and this tab does not show them.
      store('localStorage', key, JSON.stringify({ ...storedLayout(key), ...part }))
    },
  ]
}

function storedLayout(key: string): Layout {
  const text = stored('localStorage', key)
  return { ...defaultLayout, ...(text && (JSON.parse(text) as Layout)) } // only this page writes it
}

/** The columns from left to right: the pinned ones come first. */
export function inOrder(names: readonly string[], pinned: readonly string[]): readonly string[] {
  const isPinned = (name: string) => pinned.includes(name)
  return [...names.filter(isPinned), ...names.filter((name) => !isPinned(name))]
}

/** Gives a column the place of another one, and pins or unpins it as that is, if it has both. @param names in order. */
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

/**
 * The sort after a click on a column: upwards by it, then downwards, then not at all.
 * @param isAdded whether it is one more key, rather than the only one.
 */
export function sortedBy(sort: Sort, name: string, isAdded: boolean): Sort {
  const kept = isAdded || sort.length === 1 ? sort : []
  const key = kept.find((each) => each.name === name)
  if (!key) return [...(isAdded ? sort : []), { name, isDescending: false }]
  const turned = key.isDescending ? [] : [{ name, isDescending: true }]
  return kept.flatMap((each) => (each === key ? turned : [each]))
}
