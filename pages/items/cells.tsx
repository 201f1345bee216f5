/** What is in the rows and in the head of the list. @module */

import type { ComponentChildren } from 'preact'
import { useMemo } from 'preact/hooks'
import { type Item, isPlain, kindOf, shownName, shownValues } from './item.js'
import type { Selection } from './selection.js'
import type { Sort } from './sort.js'
import type { View } from './table.js'

/** Longest part of an item's JSON that its row shows, in characters. */
const longestRow = 600
/** Longest list of members that have no column of their own, in characters. */
const longestRest = 200

/** The id of the element with the cell that keys act on. */
export const activeCell = 'active-cell'

interface SortHeadProps {
  readonly name: string
  readonly place: number
  readonly sort: Sort | undefined
  readonly onSort: (name: string) => void
  readonly children?: ComponentChildren
}

export function SortHead({ name, place, sort, onSort, children }: SortHeadProps) {
  const isSorted = sort?.name === name
  const order = isSorted && (sort.isDescending ? 'descending' : 'ascending')
  return (
    <th scope="col" aria-sort={order || undefined} {...columnAt(place)}>
      {children}
      <button type="button" title="Sort" onClick={() => onSort(name)}>
        {shownName(name)}
        {order && <span aria-hidden="true">{order === 'ascending' ? ' ▲' : ' ▼'}</span>}
      </button>
    </th>
  )
}

interface SelectAllProps {
  readonly selection: Selection
  readonly items: readonly Item[]
}

export function SelectAll({ selection, items }: SelectAllProps) {
  const count = selection.items.length
  return (
    <input
      type="checkbox"
      aria-label="Select all rows"
      checked={count > 0 && count === items.length}
      indeterminate={count > 0 && count < items.length}
      onChange={({ currentTarget: { checked } }) =>
        checked ? selection.selectAll() : selection.clear()
      }
    />
  )
}

interface CellsProps {
  readonly item: Item
  readonly view: View
  readonly all: readonly string[]
  /** Those that are rendered, and how many there are to the left of them. */
  readonly columns: readonly string[]
  readonly left: number
  /** The place of the active cell, if it is in this row. */
  readonly active: number | undefined
  readonly isSelected: boolean
}

/** The text of an item is read when its row is rendered, and inserted as text, never as markup. */
export function Cells({ item, view, all, columns, left, active, isSelected }: CellsProps) {
  const values = useMemo(() => (view === 'table' ? shownValues(item) : undefined), [item, view])
  return useMemo(() => {
    /** The cell in which the row is selected. Keys do that, too. */
    const box = (
      <span class="box">
        <input type="checkbox" aria-label="Select" tabIndex={-1} checked={isSelected} />
      </span>
    )
    if (!values) {
      return (
        <td id={active === 0 ? activeCell : undefined}>
          {box}
          {item.text.slice(0, longestRow)}
        </td>
      )
    }
    const id = (
      <td key="id" {...columnAt(0, active)}>
        {box}
        <span class="open">{item.id}</span>
      </td>
    )
    const isSeen = (name: string) => name !== 'project_id' && values.has(name)
    if (!all.some(isSeen) && [...values.keys()].some((name) => name !== 'id' && isSeen(name))) {
      return [id, <Rest key="rest" {...{ values, active }} columns={all.length} />]
    }
    return [
      id,
      ...columns.map((name, offset) => {
        const text = values.get(name)
        // Without its quotes a string is easier to read; to screen readers it is still told from other values.
        const isQuoted = text !== undefined && isPlain(text)
        return (
          <td
            key={`.${name}`}
            class={text && kindOf(text)}
            aria-label={isQuoted ? text : undefined}
            {...columnAt(left + offset + 1, active)}
          >
            {isQuoted ? text.slice(1, -1) : text}
          </td>
        )
      }),
    ]
  }, [item, values, all, columns, left, active, isSelected])
}

interface RestProps extends Pick<CellsProps, 'active'> {
  readonly values: ReadonlyMap<string, string>
  readonly columns: number
}

/** What an item has, if none of it has a column. */
function Rest({ values, columns, active }: RestProps) {
  const members = [...values].filter(([name]) => name !== 'id')
  const text = members.map(([name, value]) => `${shownName(name)}: ${value}`).join(', ')
  return (
    <td
      class="nested"
      colSpan={columns}
      {...columnAt(1, active && 1)}
      style={{ gridColumn: '2 / -1' }}
    >
      {text.slice(0, longestRest)}
    </td>
  )
}

/** @param place of a cell in its row, from 0: those to the left of it may not be rendered. */
function columnAt(place: number, active?: number) {
  return {
    id: place === active ? activeCell : undefined,
    'aria-colindex': place + 1,
    style: { gridColumn: `${place + 1}` },
  }
}
