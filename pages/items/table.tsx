/** The items in rows: as a table with members as columns, or as JSON. @module */

import type { RefObject } from 'preact'
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { formatted } from '../shared/numbers.js'
import { activeCell, Cells, SelectAll, SortHead } from './cells.js'
import type { Item } from './item.js'
import { isCommand, targetRow, useListKeys } from './list-keys.js'
import { columnsAt, type Range, reachableRows, rowsAt, topFor } from './range.js'
import type { Selection } from './selection.js'
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
  /** The column of the cell that they act on; `undefined` for that of the id. */
  readonly column: string | undefined
  readonly selection: Selection
  readonly onSort: (sort: Sort | undefined) => void
  readonly onActive: (item: Item) => void
  readonly onColumn: (name: string | undefined) => void
  /** @param name of the member whose cell is to be edited; `undefined` for the item. */
  readonly onOpen: (item: Item, name: string | undefined) => void
  /** A key that the table does not handle was pressed. @param item that of the active row. */
  readonly onKey: (event: KeyboardEvent, item: Item | undefined) => void
}

export function ItemTable(props: TableProps) {
  const { grid, items, view, columns, sort, changed, active, column, selection } = props
  const { onSort, onActive, onColumn, onOpen, onKey } = props
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
  /** 0 for the column of the id. */
  const activeColumn = view === 'table' && column !== undefined ? columns.indexOf(column) + 1 : 0

  const isDrawn =
    activeIndex >= first &&
    activeIndex < end &&
    (activeColumn === 0 || (activeColumn > left && activeColumn <= right))

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

  // So is a cell; far away, it is not there before that.
  useLayoutEffect(() => {
    const cell = () => document.getElementById(activeCell)
    if (!cell() && isListed && grid.current) {
      grid.current.scrollLeft =
        (grid.current.scrollWidth * (ends[activeColumn - 2] ?? 0)) / (ends.at(-1) ?? 1)
      draw()
    }
    cell()?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }, [column])

  const goTo = (index: number, isRange = false) => {
    const item = items[Math.max(0, Math.min(index, count - 1))]
    if (!item) return
    if (isRange) selection.extend(items[activeIndex] ?? item, item)
    onActive(item)
  }
  const topRow = () => Math.ceil((grid.current?.scrollTop ?? 0) / rowHeight)
  const page = () => Math.max(1, Math.floor(innerHeight() / rowHeight) - 1)

  function onKeyDown(event: KeyboardEvent): void {
    const item = items[activeIndex]
    const target = targetRow(event.key, isListed ? activeIndex : topRow(), page(), count)
    if (target !== undefined) {
      grid.current?.focus()
      goTo(!isListed && event.key.startsWith('Arrow') ? topRow() : target, event.shiftKey)
    } else if (view === 'table' && /^Arrow(Left|Right)$/.test(event.key)) {
      const next = activeColumn + (event.key === 'ArrowLeft' ? -1 : 1)
      if (next <= columns.length) onColumn(columns[next - 1])
    } else if (event.key === ' ' && item) selection.toggle(item)
    else if (event.key === 'a' && isCommand(event)) selection.selectAll()
    else if (event.key === 'Enter' && item) onOpen(item, columns[activeColumn - 1])
    else {
      onKey(event, item)
      return
    }
    event.preventDefault()
  }

  useListKeys(onKeyDown)

  function onClick({ target, shiftKey }: MouseEvent, item: Item): void {
    const isBox = target instanceof Element && target.closest('.box') !== null
    const place = placeOf(target)
    if (shiftKey) selection.extend(items[activeIndex] ?? item, item)
    else if (isBox) selection.toggle(item)
    onActive(item)
    onColumn(columns[place - 1])
    const isText = getSelection()?.isCollapsed === false // that is being selected
    if (place === 0 && !isBox && !shiftKey && !isText) onOpen(item, undefined)
  }

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
        aria-multiselectable="true"
        aria-colcount={view === 'table' ? columns.length + 1 : 1}
        aria-activedescendant={isDrawn ? activeCell : undefined}
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
            {view === 'json' && (
              <th scope="col">
                <SelectAll {...{ selection, items }} /> JSON
              </th>
            )}
            {view === 'table' && (
              <SortHead name="id" place={0} {...{ sort, onSort: sortBy }}>
                <SelectAll {...{ selection, items }} />
              </SortHead>
            )}
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
              class={`${item.id === active ? 'active' : ''} ${changed.has(item.id) ? 'changed' : ''}`}
              aria-rowindex={first + offset + 2}
              aria-selected={selection.has(item)}
              onMouseDown={(event) => event.shiftKey && event.preventDefault()} // it would select text
              onClick={(event) => onClick(event, item)}
              onDblClick={({ target }) =>
                placeOf(target) > 0 && onOpen(item, columns[placeOf(target) - 1])
              }
            >
              <Cells
                {...{ item, view, left }}
                all={columns}
                columns={drawn}
                active={item.id === active ? activeColumn : undefined}
                isSelected={selection.has(item)}
              />
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

/** Renders again only if the range is different. */
function changedTo(range: Range): (old: Range) => Range {
  return (old) => (old.first === range.first && old.end === range.end ? old : range)
}

/** The place of the cell with an element in its row; 0 for the one with the id, or with the JSON. */
function placeOf(target: EventTarget | null): number {
  const cell = target instanceof Element && target.closest('[aria-colindex]')
  return cell ? Number(cell.ariaColIndex) - 1 : 0
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
