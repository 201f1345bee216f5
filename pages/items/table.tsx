/** The items in rows: as a table with members as columns, or as JSON. @module */

import type { RefObject } from 'preact'
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { formatted } from '../shared/numbers.js'
import { Cells, SortHead } from './cells.js'
import type { Item } from './item.js'
import { columnsAt, type Range, reachableRows, rowsAt, topFor } from './range.js'
import type { Sort } from './sort.js'
import { sum, useTracks } from './tracks.js'

export type View = 'table' | 'json'

/** In CSS pixels; JSON has four lines of text. */
const rowHeights: Record<View, number> = { table: 36, json: 92 }

const nothing: Range = { first: 0, end: 0 }

export interface TableProps {
  /** Is set to the table, which can have the focus. */
  readonly grid: RefObject<HTMLTableElement | null>
  readonly items: readonly Item[]
  readonly view: View
  /** Names of the members that are columns, besides `id`. */
  readonly columns: readonly string[]
  /** How many characters their values have. */
  readonly widths: ReadonlyMap<string, number>
  readonly sort: Sort | undefined
  readonly changed: ReadonlySet<string>
  /** The id of the row that keys act on. */
  readonly active: string | undefined
  readonly onSort: (sort: Sort | undefined) => void
  readonly onActive: (item: Item) => void
  readonly onOpen: (item: Item) => void
  /** A key that the table does not handle was pressed. @param item that of the active row. */
  readonly onKey: (event: KeyboardEvent, item: Item | undefined) => void
}

export function ItemTable(props: TableProps) {
  const { grid, items, view, columns, sort, changed, active, onSort, onActive, onOpen, onKey } =
    props
  const rowHeight = rowHeights[view]
  const count = Math.min(items.length, reachableRows(rowHeight))
  const head = useRef<HTMLTableSectionElement>(null)
  const [{ first, end }, setRows] = useState(nothing)
  const [{ first: left, end: right }, setColumns] = useState(nothing)
  const tracks = useTracks(columns, props.widths)
  const ends = tracks.map((_, at) => sum(tracks.slice(0, at + 1)))
  const drawn = useMemo(() => columns.slice(left, right), [columns, left, right])
  const place = useMemo(() => items.findIndex(({ id }) => id === active), [items, active, count])
  /** -1 while no row is active. */
  const activeIndex = place < count ? place : -1
  const isListed = activeIndex >= 0

  /** Height of the visible part of the rows, which the head does not cover. */
  const innerHeight = () => (grid.current?.clientHeight ?? 0) - (head.current?.offsetHeight ?? 0)

  const draw = () => {
    if (!grid.current || !head.current) return
    const { scrollTop, scrollLeft, clientWidth } = grid.current
    setRows(changedTo(rowsAt(scrollTop, innerHeight(), rowHeight, count)))
    if (view !== 'table') return
    const idWidth = head.current.querySelector('th')?.offsetWidth ?? 0
    const unit = (head.current.offsetWidth - idWidth) / (ends.at(-1) ?? 1)
    setColumns(changedTo(columnsAt((scrollLeft - idWidth) / unit, clientWidth / unit, ends)))
  }
  useEffect(() => {
    const observer = new ResizeObserver(draw)
    if (grid.current) observer.observe(grid.current)
    return () => observer.disconnect()
  }, [count, rowHeight, tracks])
  useStablePosition(grid, items, rowHeight)
  useLayoutEffect(draw, [count, rowHeight, tracks])

  // A row that becomes active, or appears as the active one, is scrolled into view.
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
    if (target !== undefined) {
      grid.current?.focus()
      goTo(!isListed && event.key.startsWith('Arrow') ? topRow() : target)
    } else if (event.key === 'Enter' && item) onOpen(item)
    else {
      onKey(event, item)
      return
    }
    event.preventDefault()
  }

  useListKeys(onKeyDown)

  /** Upwards, then downwards, then as listed; from the first row on. */
  const sortBy = (name: string) => {
    if (grid.current) grid.current.scrollTop = 0
    if (sort?.name !== name) onSort({ name, isDescending: false })
    else onSort(sort.isDescending ? undefined : { name, isDescending: true })
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
        aria-colcount={view === 'table' ? columns.length + 1 : 1}
        aria-activedescendant={
          activeIndex >= first && activeIndex < end ? rowId(activeIndex) : undefined
        }
        tabIndex={0}
        onScroll={draw}
        onFocus={() => !isListed && goTo(topRow())}
        style={{
          '--tracks': tracks.map((width) => `minmax(${width}ch, ${width}fr)`).join(' '),
          '--width': `${sum(tracks)}ch`,
          '--row-height': `${rowHeight}px`,
        }}
      >
        <thead ref={head}>
          <tr aria-rowindex={1}>
            {view === 'json' && <th scope="col">JSON</th>}
            {view === 'table' && <SortHead name="id" place={0} {...{ sort, onSort: sortBy }} />}
            {view === 'table' &&
              drawn.map((name, offset) => (
                <SortHead
                  key={`.${name}`}
                  place={left + offset + 1}
                  {...{ name, sort, onSort: sortBy }}
                />
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
              <Cells item={item} view={view} all={columns} columns={drawn} left={left} />
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

/** Calls the handler for keys that are pressed wherever they are not for something else. */
function useListKeys(onKeyDown: (event: KeyboardEvent) => void): void {
  const latest = useRef(onKeyDown)
  latest.current = onKeyDown
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const { target, key, ctrlKey, metaKey, altKey } = event
      if (ctrlKey || metaKey || altKey || document.querySelector('dialog[open]')) return
      const taken = key === 'Enter' ? 'button, a, input, select' : 'input, select'
      if (target instanceof Element && target.closest(taken)) return
      latest.current(event)
    }
    document.addEventListener('keydown', listen)
    return () => document.removeEventListener('keydown', listen)
  }, [])
}

/** Renders again only if the range is different. */
function changedTo(range: Range): (old: Range) => Range {
  return (old) => (old.first === range.first && old.end === range.end ? old : range)
}

/** The row that a key moves to from another one, if it moves at all. */
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
 * When rows are added or removed, or all change their height, the row at the top stays in place; if it is
 * gone, the next row that is still there.
 */
function useStablePosition(
  grid: RefObject<HTMLTableElement | null>,
  items: readonly Item[],
  rowHeight: number,
): void {
  const before = useRef(items)
  const heightBefore = useRef(rowHeight)
  // Read before the rows are rendered: with fewer rows, the browser would scroll back to their end.
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

/** How far a row has moved in a newer list, or else the first row after it that is in both. */
function rowsMoved(old: readonly Item[], newer: readonly Item[], row: number): number {
  if (row === 0 || old[row]?.id === newer[row]?.id) return 0
  const places = new Map(newer.map(({ id }, place) => [id, place]))
  for (let at = row; at < old.length; at += 1) {
    const place = places.get(old[at]?.id ?? '')
    if (place !== undefined) return place - at
  }
  return 0
}
