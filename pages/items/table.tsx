/** The items in rows: as a table with members as columns, or as JSON. @module */

import type { RefObject } from 'preact'
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { type Item, shownName, shownValues } from './item.js'
import { formatted } from './numbers.js'
import { reachableRows, rowsAt, topFor } from './range.js'

export type View = 'table' | 'json'

/** In CSS pixels; JSON has four lines of text. */
const rowHeights: Record<View, number> = { table: 36, json: 92 }
/** How much of an item's JSON is in its row, in characters. */
const longestRow = 600

export interface TableProps {
  /** Gets the table, which takes the focus. */
  readonly grid: RefObject<HTMLTableElement | null>
  readonly items: readonly Item[]
  readonly view: View
  /** Names of the members that are columns, besides `id`. */
  readonly columns: readonly string[]
  readonly changed: ReadonlySet<string>
  /** The id of the row that keys act on. */
  readonly active: string | undefined
  readonly onActive: (item: Item) => void
  readonly onOpen: (item: Item) => void
  /** A key that the table does not know, on the active row. */
  readonly onKey: (event: KeyboardEvent, item: Item | undefined) => void
}

export function ItemTable(props: TableProps) {
  const { grid, items, view, columns, changed, active, onActive, onOpen, onKey } = props
  const rowHeight = rowHeights[view]
  const count = Math.min(items.length, reachableRows(rowHeight))
  const head = useRef<HTMLTableSectionElement>(null)
  const [{ first, end }, setRange] = useState({ first: 0, end: 0 })
  const place = useMemo(() => items.findIndex(({ id }) => id === active), [items, active, count])
  /** -1 while no row is active. */
  const activeIndex = place < count ? place : -1
  const isListed = activeIndex >= 0

  /** Height of the rows that can be seen: the head covers the others. */
  const innerHeight = () => (grid.current?.clientHeight ?? 0) - (head.current?.offsetHeight ?? 0)

  const draw = () => {
    const top = grid.current?.scrollTop ?? 0
    const range = rowsAt(top, innerHeight(), rowHeight, count)
    setRange((old) => (old.first === range.first && old.end === range.end ? old : range))
  }
  useEffect(() => {
    const observer = new ResizeObserver(draw)
    if (grid.current) observer.observe(grid.current)
    return () => observer.disconnect()
  }, [count, rowHeight])
  useKeptPlace(grid, items, rowHeight)
  useLayoutEffect(draw, [count, rowHeight])

  // A row that becomes the active one, or appears as such, is brought into the window.
  useLayoutEffect(() => {
    if (!isListed || !grid.current) return
    grid.current.scrollTop = topFor(activeIndex, grid.current.scrollTop, innerHeight(), rowHeight)
  }, [active, isListed])

  const goTo = (index: number) => {
    const item = items[Math.max(0, Math.min(index, count - 1))]
    if (item) onActive(item)
  }
  const topRow = () => Math.ceil((grid.current?.scrollTop ?? 0) / rowHeight)
  const page = () => Math.max(1, Math.floor(innerHeight() / rowHeight) - 1)

  function onKeyDown(event: KeyboardEvent): void {
    const item = items[activeIndex]
    const target = targetRow(event.key, isListed ? activeIndex : topRow(), page(), count)
    if (event.ctrlKey || event.metaKey || event.altKey) return
    if (target !== undefined) goTo(target)
    else if (event.key === 'Enter' && item) onOpen(item)
    else {
      onKey(event, item)
      return
    }
    event.preventDefault()
  }

  return (
    <>
      <table
        ref={grid}
        class={`grid ${view}`}
        // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: its rows are chosen by keys
        role="grid"
        aria-label="Items"
        aria-rowcount={items.length + 1}
        aria-activedescendant={
          activeIndex >= first && activeIndex < end ? rowId(activeIndex) : undefined
        }
        tabIndex={0}
        onScroll={draw}
        onKeyDown={onKeyDown}
        onFocus={() => !isListed && goTo(topRow())}
        style={{ '--columns': columns.length, '--row-height': `${rowHeight}px` }}
      >
        <thead ref={head}>
          <tr aria-rowindex={1}>
            {(view === 'table' ? ['id', ...columns] : ['JSON']).map((name) => (
              <th key={name} scope="col">
                {shownName(name)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody style={{ height: `${count * rowHeight}px`, paddingTop: `${first * rowHeight}px` }}>
          {items.slice(first, Math.min(end, count)).map((item, offset) => (
            <tr
              key={item.id}
              id={rowId(first + offset)}
              class={changed.has(item.id) ? 'changed' : undefined}
              aria-rowindex={first + offset + 2}
              aria-selected={first + offset === activeIndex}
              onClick={() => {
                onActive(item)
                if (getSelection()?.isCollapsed !== false) onOpen(item) // text is not being selected
              }}
            >
              <Cells item={item} view={view} columns={columns} />
            </tr>
          ))}
        </tbody>
      </table>
      {count < items.length && (
        <p class="note">These are the first {formatted(count)} rows. Search to see others.</p>
      )}
    </>
  )
}

interface CellsProps {
  readonly item: Item
  readonly view: View
  readonly columns: readonly string[]
}

/** The text of an item is read when its row comes into the page. */
function Cells({ item, view, columns }: CellsProps) {
  return useMemo(() => {
    if (view === 'json') return <Cell text={item.text.slice(0, longestRow)} />
    const values = shownValues(item)
    return [
      <Cell key="id" text={item.id} />,
      ...columns.map((name) => <Cell key={`.${name}`} text={values.get(name) ?? ''} />),
    ]
  }, [item, view, columns])
}

/** Text is put into the page as text: none of it can become markup. */
function Cell({ text }: { text: string }) {
  return <td>{text}</td>
}

/** Where a key goes from a row, if it goes anywhere. */
function targetRow(key: string, row: number, page: number, count: number): number | undefined {
  switch (key) {
    case 'ArrowDown':
      return row + 1
    case 'ArrowUp':
      return row - 1
    case 'PageDown':
      return row + page
    case 'PageUp':
      return row - page
    case 'Home':
      return 0
    case 'End':
      return count - 1
    default:
      return undefined
  }
}

function rowId(index: number): string {
  return `row-${index}`
}

/**
 * When rows are added or removed, or all get another height, the row at the top stays where it is; if it is
 * gone, the first one after it that is left.
 */
function useKeptPlace(
  grid: RefObject<HTMLTableElement | null>,
  items: readonly Item[],
  rowHeight: number,
): void {
  const before = useRef(items)
  const heightBefore = useRef(rowHeight)
  // Read before the rows are drawn: the browser moves what would be below the end of fewer rows.
  const top = (grid.current?.scrollTop ?? 0) / heightBefore.current
  useLayoutEffect(() => {
    const old = before.current
    before.current = items
    heightBefore.current = rowHeight
    if (!grid.current) return
    const row = Math.floor(top)
    grid.current.scrollTop = (top + rowsMoved(old, items, row)) * rowHeight
  }, [items, rowHeight])
}

/** How far a row of a list has moved in a newer one, or the first one after it that is in both. */
function rowsMoved(old: readonly Item[], newer: readonly Item[], row: number): number {
  if (row === 0 || old[row]?.id === newer[row]?.id) return 0
  const places = new Map(newer.map(({ id }, place) => [id, place]))
  for (let at = row; at < old.length; at += 1) {
    const place = places.get(old[at]?.id ?? '')
    if (place !== undefined) return place - at
  }
  return 0
}
