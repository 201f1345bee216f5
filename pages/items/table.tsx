/** The list of items: a table with members as columns, or rows of JSON. @module */

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { isCommand } from '../shared/keys.js'
import { formatted } from '../shared/numbers.js'
import { activeCell, Cells, SelectAll } from './cells.js'
import { Head, SortMenu, widthOfCharacter } from './head.js'
import { type Item, memberText } from './item.js'
import { heightOfMost } from './json-text.js'
import { targetRow, useListKeys } from './list-keys.js'
import { columnsAt, type Range, reachableRows, rowsAt, topFor } from './range.js'
import { useStablePosition } from './stable-position.js'
import { moreWidth } from './tracks.js'
import { useIsNarrow } from './use-is-narrow.js'
import type { Page } from './use-page.js'

export type View = 'table' | 'json'

/** How rows look. On a narrow screen, table rows are shown as cards. */
export type Look = View | 'cards'

/** Row heights in CSS pixels. Rows of JSON are higher by the height of their text lines. */
const rowHeights: Record<Look, number> = { table: 36, json: 15, cards: 86 }
/** Height of a line of JSON in CSS pixels, and maximum number of lines per row on a wide and on a narrow screen. */
const lineHeight = 19
const mostLines = { wide: 3, narrow: 8 }
/** How long the pointer must rest on a cell before a popover shows the whole value, in milliseconds. */
const rest = 700

const nothing: Range = { first: 0, end: 0 }

export function ItemTable(page: Page) {
  const { grid, rows: items, tracks, layout, column, selection, setColumn, openCell } = page
  const active = page.active?.id
  const isNarrow = useIsNarrow()
  const { view } = page
  const isJson = view === 'json'
  const look = view === 'table' && isNarrow ? 'cards' : view
  const [lines, setLines] = useState(1)
  const rowHeight = rowHeights[look] + (isJson ? lines * lineHeight : 0)
  const count = Math.min(items.length, reachableRows(rowHeight))
  const head = useRef<HTMLTableSectionElement>(null)
  const [{ first, end }, setRows] = useState(nothing)
  const [{ first: left, end: right }, setColumns] = useState(nothing)
  const { columns, names, widths, starts, hidden } = tracks
  /** Width of the id column, which stays in view. */
  const idWidth = starts[1] ?? 0
  const drawn = useMemo(() => {
    const isDrawn = (place: number) => place < 0 || (place >= left && place < right)
    return look === 'table' ? columns.filter(({ place }) => isDrawn(place - 1)) : columns
  }, [look, columns, left, right])
  const place = useMemo(() => items.findIndex(({ id }) => id === active), [items, active, count])
  /** Index of the active row; -1 if no row is active. */
  const activeIndex = place < count ? place : -1
  const isListed = activeIndex >= 0
  /** Index of the active column; 0 for the id column. */
  const activeColumn = view === 'table' && column !== undefined ? names.indexOf(column) + 1 : 0
  const nameAt = (place: number) => names[place - 1]

  const isDrawn =
    activeIndex >= first && activeIndex < end && drawn.some(({ place }) => place === activeColumn)

  /** Visible height of the rows below the header, in CSS pixels. */
  const innerHeight = () => (grid.current?.clientHeight ?? 0) - (head.current?.offsetHeight ?? 0)

  const unit = () => widthOfCharacter(head.current, widths)

  const draw = () => {
    if (!grid.current || !head.current) return
    const { scrollTop, scrollLeft, clientWidth } = grid.current
    setRows(changedTo(rowsAt(scrollTop, innerHeight(), rowHeight, count)))
    page.setRoom(look === 'table' ? Math.floor(clientWidth / unit()) : undefined)
    if (look !== 'table') return
    const [start, end] = [scrollLeft / unit() + idWidth, (scrollLeft + clientWidth) / unit()]
    setColumns(changedTo(columnsAt(start, end, starts.slice(2))))
  }
  const measure = () => {
    const needed = (isJson && grid.current ? heightOfMost(grid.current) : 0) / lineHeight
    setLines(Math.min(Math.round(needed) || 1, mostLines[isNarrow ? 'narrow' : 'wide']))
  }
  useLayoutEffect(measure, [isJson, tracks, isNarrow])
  useEffect(() => {
    const observer = new ResizeObserver(() => {
      draw()
      measure()
    })
    if (grid.current) observer.observe(grid.current)
    return () => observer.disconnect()
  }, [count, rowHeight, tracks])
  useStablePosition(grid, items, rowHeight)
  useLayoutEffect(draw, [count, rowHeight, tracks])

  const cellOfKeys = () => document.getElementById(activeCell)

  /** Scrolls to the active cell, and renders the cell if it was too far out of view to be rendered. */
  const reveal = () => {
    if (!isListed || !grid.current) return
    grid.current.scrollTop = topFor(activeIndex, grid.current.scrollTop, innerHeight(), rowHeight)
    if (!drawn.some(({ place }) => place === activeColumn))
      grid.current.scrollLeft = ((starts[activeColumn] ?? 0) - idWidth) * unit()
    draw()
    cellOfKeys()?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }
  useLayoutEffect(reveal, [active, isListed, column])

  const activate = (item: Item) => {
    page.setActive(item)
    page.follow(item)
  }
  const goTo = (index: number, isRange = false) => {
    const item = items[Math.max(0, Math.min(index, count - 1))]
    if (!item) return
    if (isRange) selection.extend(items[activeIndex] ?? item, item)
    if (item.id === active) reveal()
    activate(item)
  }
  const topRow = () => Math.ceil((grid.current?.scrollTop ?? 0) / rowHeight)
  const rowsInView = () => Math.max(1, Math.floor(innerHeight() / rowHeight) - 1)

  /** Returns the name of the member in a cell; `undefined` for an id cell, and for a cell with several members. */
  const nameIn = (cell: Element | null) =>
    cell?.matches('.rest') ? undefined : nameAt(placeOf(cell))

  const peek = (cell: Element | null, hasFocus: boolean) => {
    const item = items[Number(cell?.parentElement?.ariaRowIndex) - 2]
    const name = view === 'table' && placeOf(cell) === 0 ? 'id' : nameIn(cell)
    if (!cell || !item || name === undefined || memberText(item, name) === undefined) return
    page.open({ kind: 'peek', item, name, box: cell.getBoundingClientRect(), hasFocus })
  }
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const onPointerOver = ({ target, pointerType }: PointerEvent) => {
    clearTimeout(timer.current)
    if (pointerType !== 'mouse') return
    const cell = target instanceof Element ? target.closest('td:not(.rest)') : null
    timer.current = setTimeout(() => {
      if (!cell) return
      const text = cell.querySelector('.open') ?? cell
      const { scrollWidth, clientWidth, scrollHeight, clientHeight } = text
      // In some fonts, `scrollHeight` is a pixel too large. A clipped value has at least one more line.
      if (scrollWidth > clientWidth || scrollHeight > 1.5 * clientHeight) peek(cell, false)
    }, rest)
  }

  function onKeyDown(key: string, event: KeyboardEvent): void {
    const item = items[activeIndex]
    const target = targetRow(key, isListed ? activeIndex : topRow(), rowsInView(), count)
    if (target !== undefined) {
      grid.current?.focus()
      goTo(!isListed && key.startsWith('Arrow') ? topRow() : target, event.shiftKey)
    } else if (view === 'table' && /^Arrow(Left|Right)$/.test(key)) {
      const next = activeColumn + (key === 'ArrowLeft' ? -1 : 1)
      if (next < columns.length) setColumn(nameAt(next))
    } else if (key === ' ' && item) selection.toggle(item)
    else if (key === 'a' && isCommand(event)) selection.selectAll()
    else if (key === 'Enter' && item) {
      reveal()
      queueMicrotask(() => openCell(item, nameIn(cellOfKeys()))) // waits until the cell is rendered
    } else if (key === 'v') {
      reveal()
      requestAnimationFrame(() => peek(cellOfKeys(), true)) // waits for the scroll event, which closes popovers
    } else {
      page.onKey(event, item)
      return
    }
    event.preventDefault()
  }

  useListKeys(onKeyDown)

  function onClick({ target, shiftKey }: MouseEvent, item: Item): void {
    clearTimeout(timer.current) // a popover would cover the rows below
    const isBox = target instanceof Element && target.closest('.box') !== null
    const place = placeOf(target)
    if (shiftKey) selection.extend(items[activeIndex] ?? item, item)
    else if (isBox) selection.toggle(item)
    grid.current?.focus() // the clicked element must not keep focus
    activate(item)
    setColumn(nameAt(place))
    const isText = getSelection()?.isCollapsed === false // whether the user is selecting text
    const isCard = look === 'cards'
    const nested = !isCard && target instanceof Element && target.closest('.nested span')
    if (nested) peek(nested.closest('td'), true)
    else if ((place === 0 || isCard) && !isBox && !shiftKey && !isText) openCell(item, undefined)
  }

  useLayoutEffect(() => {
    if (grid.current) grid.current.scrollTop = 0
  }, [layout.sort])

  return (
    <>
      <table
        ref={grid}
        class={`grid ${look}`}
        // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: keys select its rows
        role="grid"
        aria-label="Items"
        translate={false}
        aria-rowcount={items.length + 1}
        aria-multiselectable="true"
        aria-colcount={view === 'table' ? columns.length + (hidden > 0 ? 1 : 0) : 1}
        aria-activedescendant={isDrawn ? activeCell : undefined}
        tabIndex={0}
        onScroll={draw}
        onFocus={() => !isListed && goTo(topRow())}
        style={{
          '--tracks': tracks.css,
          '--width': `${(starts.at(-1) ?? 0) + (hidden > 0 ? moreWidth : 0)}ch`,
          '--id-width': `${idWidth}ch`,
          '--row-height': `${rowHeight}px`,
          '--lines': lines,
        }}
      >
        <thead ref={head}>
          {look === 'table' ? (
            <Head {...page} drawn={drawn}>
              <SelectAll {...page} />
            </Head>
          ) : (
            <tr aria-rowindex={1}>
              <th scope="col">
                <SelectAll {...page} />
                {look === 'json' ? 'JSON' : <SortMenu {...page} />}
              </th>
            </tr>
          )}
        </thead>
        <tbody
          style={{ height: `${count * rowHeight}px`, paddingTop: `${first * rowHeight}px` }}
          onPointerOver={onPointerOver}
          onPointerLeave={() => clearTimeout(timer.current)}
        >
          {items.slice(first, Math.min(end, count)).map((item, offset) => (
            <tr
              key={item.id}
              class={`${item.id === active ? 'active' : ''} ${page.changed.has(item.id) ? 'changed' : ''}`}
              aria-rowindex={first + offset + 2}
              aria-selected={selection.has(item)}
              onMouseDown={(event) => event.shiftKey && event.preventDefault()} // a click with Shift would select text
              onClick={(event) => onClick(event, item)}
              onDblClick={({ target }) => {
                if (placeOf(target) > 0 && target instanceof Element)
                  openCell(item, nameIn(target.closest('td')))
              }}
            >
              <Cells
                {...{ item, look, columns, drawn }}
                isRestShown={tracks.hasRest && look === 'table'}
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

/** Returns a state update that keeps the old range if the new one is equal, to avoid rendering again. */
function changedTo(range: Range): (old: Range) => Range {
  return (old) => (old.first === range.first && old.end === range.end ? old : range)
}

/** Returns the column index of the cell that contains an element; 0 for an id cell, and for a row of JSON. */
function placeOf(target: EventTarget | null): number {
  const cell = target instanceof Element && target.closest('[aria-colindex]')
  return cell ? Number(cell.ariaColIndex) - 1 : 0
}
