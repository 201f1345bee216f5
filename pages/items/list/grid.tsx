/** The list of items: a table with members as columns, or cards on a narrow screen. @module */

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { isCommand } from '../../shared/keys.js'
import { formatted } from '../../shared/numbers.js'
import { type Item, memberText } from '../model/item.js'
import { isEditableInCell } from '../model/values.js'
import { idWidth, room, useColumns } from '../state/columns.js'
import { cursor, moveAside } from '../state/cursor.js'
import { useList } from '../state/list.js'
import { open } from '../state/overlay.js'
import { activate, edit as openItem } from '../state/panel.js'
import { extend, selectAll, selectedIds, toggle } from '../state/selection.js'
import { view } from '../state/view.js'
import { useKeys } from '../ui/keys.js'
import { useIsNarrow } from '../ui/use-is-narrow.js'
import { activeCell, Cells, type GridLayout } from './cells.js'
import { Head } from './head.js'
import { heightOfMost } from './json-text.js'
import { useWindow } from './window.js'

const heights: Record<GridLayout, number> = { table: 36, cards: 86, json: 15 } // in CSS pixels; of JSON without its lines
const lineHeight = 19 // of JSON, in CSS pixels
const mostLines = { wide: 3, narrow: 8 } // of a row of JSON
const rest = 700 // ms on a cell, before a popover shows the whole value

export function Grid({ rows }: { rows: readonly Item[] }) {
  const { changed } = useList()
  const { sort, isJson } = view.use()
  const { id: active, column } = cursor.use()
  const ids = selectedIds.use()
  const isNarrow = useIsNarrow()
  const grid = useRef<HTMLTableElement>(null)
  const layout: GridLayout = isJson ? 'json' : isNarrow ? 'cards' : 'table'
  const isTable = layout === 'table'
  const [lines, setLines] = useState(1)
  const { columns, hidden, tracks, width } = useColumns()
  const rowHeight = heights[layout] + (isJson ? lines * lineHeight : 0)
  const { count, first, end, draw, reveal, topRow, rowsInView } = useWindow(grid, rows, rowHeight)
  const place = useMemo(() => rows.findIndex(({ id }) => id === active), [rows, active, count])
  const row = place < count ? place : -1 // index of the active row; -1 if there is none
  const hasColumn = !isJson && columns.some(({ name }) => name === column)
  const activeName = hasColumn ? column : 'id'

  const measure = () => {
    if (!grid.current) return
    const needed = isJson ? heightOfMost(grid.current) / lineHeight : 1
    setLines(Math.min(Math.round(needed) || 1, mostLines[isNarrow ? 'narrow' : 'wide']))
    const id = grid.current.tHead?.querySelector('th')?.offsetWidth ?? 0
    if (!isJson)
      room.set(isTable ? Math.floor((grid.current.clientWidth * idWidth) / id) : undefined)
  }
  useLayoutEffect(measure, [layout, columns])
  useEffect(() => {
    const observer = new ResizeObserver(() => {
      draw()
      measure()
    })
    if (grid.current) observer.observe(grid.current)
    return () => observer.disconnect()
  }, [rowHeight, count])
  useLayoutEffect(() => {
    if (grid.current) grid.current.scrollTop = 0
  }, [sort])

  const cellOfKeys = () => document.getElementById(activeCell)
  const show = () => {
    if (row < 0) return
    reveal(row)
    cellOfKeys()?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }
  useLayoutEffect(show, [active, row < 0, column])

  const goTo = (index: number, isRange = false) => {
    const item = rows[Math.max(0, Math.min(index, count - 1))]
    if (!item) return
    if (isRange) extend(rows, rows[row] ?? item, item)
    if (item.id === active) show()
    activate(item)
  }

  /** Edits a member in its cell, or the whole item if the cell shows something else. */
  const edit = (item: Item, cell: HTMLElement | null) => {
    const name = cell?.dataset.name
    if (name !== undefined && name !== 'id' && isEditableInCell(memberText(item, name)))
      open({ kind: 'cell', item, name })
    else openItem(item)
  }
  const peek = (cell: HTMLElement | null, hasFocus: boolean) => {
    const item = rows[Number(cell?.parentElement?.ariaRowIndex) - 2]
    const name = cell?.dataset.name
    if (!cell || !item || name === undefined || memberText(item, name) === undefined) return
    open({ kind: 'peek', item, name, cell, hasFocus })
  }
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const onPointerOver = ({ target, pointerType }: PointerEvent) => {
    clearTimeout(timer.current)
    const cell = cellAt(target)
    if (pointerType !== 'mouse' || !cell) return
    timer.current = setTimeout(() => {
      const text = cell.querySelector('.open') ?? cell
      const { scrollWidth, clientWidth, scrollHeight, clientHeight } = text
      // `scrollHeight` is a pixel too large in some fonts. A clipped value has at least one more line.
      if (scrollWidth > clientWidth || scrollHeight > 1.5 * clientHeight) peek(cell, false)
    }, rest)
  }

  useKeys((key, event) => {
    const item = rows[row]
    const start = row < 0 ? topRow() : row
    const targets: Readonly<Record<string, number>> = {
      ArrowDown: row < 0 ? start : row + 1,
      ArrowUp: row < 0 ? start : row - 1,
      PageDown: start + rowsInView(),
      PageUp: start - rowsInView(),
      Home: 0,
      End: count - 1,
    }
    const target = targets[key]
    if (target !== undefined) {
      grid.current?.focus()
      goTo(target, event.shiftKey)
    } else if (/^Arrow(Left|Right)$/.test(key) && !isJson)
      moveAside(columns, key === 'ArrowLeft' ? -1 : 1)
    else if (key === ' ' && item) toggle(item)
    else if (key === 'a' && isCommand(event)) selectAll(rows)
    else if (key === 'Enter' && item) {
      show()
      queueMicrotask(() => edit(item, cellOfKeys())) // waits until the cell is rendered
    } else if (key === 'v') {
      show()
      requestAnimationFrame(() => peek(cellOfKeys(), true)) // waits for the scroll event, which closes popovers
    } else return
    event.preventDefault()
  })

  function onClick({ target, shiftKey }: MouseEvent, item: Item): void {
    clearTimeout(timer.current) // a popover would cover the rows below
    if (!(target instanceof Element)) return
    const isBox = target.closest('.box') !== null
    const cell = cellAt(target)
    if (shiftKey) extend(rows, rows[row] ?? item, item)
    else if (isBox) toggle(item)
    grid.current?.focus() // the clicked element must not keep focus
    activate(item, cell?.dataset.name ?? 'id')
    const isText = getSelection()?.isCollapsed === false // the user is selecting text
    const isWhole = !isTable || cell?.dataset.name === 'id'
    if (isTable && target.closest('.nested span')) peek(cell, true)
    else if (isWhole && !isBox && !shiftKey && !isText) openItem(item)
  }

  return (
    <>
      <table
        ref={grid}
        class={`grid ${layout}`}
        // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: keys select its rows
        role="grid"
        aria-label="Items"
        translate={false}
        aria-rowcount={rows.length + 1}
        aria-multiselectable="true"
        aria-activedescendant={row >= first && row < end ? activeCell : undefined}
        tabIndex={0}
        onScroll={draw}
        onFocus={() => row < 0 && goTo(topRow())}
        style={{
          '--tracks': tracks,
          '--width': width,
          '--id-width': `${idWidth}ch`,
          '--row-height': `${rowHeight}px`,
          '--lines': lines,
        }}
      >
        <thead>
          <Head {...{ columns, hidden, rows }} />
        </thead>
        <tbody
          style={{ height: `${count * rowHeight}px`, paddingTop: `${first * rowHeight}px` }}
          onPointerOver={onPointerOver}
          onPointerLeave={() => clearTimeout(timer.current)}
        >
          {rows.slice(first, end).map((item, offset) => (
            <tr
              key={item.id}
              class={`${item.id === active ? 'active' : ''} ${changed.has(item.id) ? 'changed' : ''}`}
              aria-rowindex={first + offset + 2}
              aria-selected={ids.has(item.id)}
              onMouseDown={(event) => event.shiftKey && event.preventDefault()} // a click with Shift would select text
              onClick={(event) => onClick(event, item)}
              onDblClick={({ target }) => {
                const cell = cellAt(target)
                if (isTable && cell?.dataset.name !== 'id') edit(item, cell)
              }}
            >
              <Cells
                {...{ item, layout, columns }}
                hasRest={hidden > 0 && isTable}
                active={item.id === active ? activeName : undefined}
                isSelected={ids.has(item.id)}
              />
            </tr>
          ))}
        </tbody>
      </table>
      {count < rows.length && (
        <p class="note">These are the first {formatted(count)} rows. Search to see others.</p>
      )}
    </>
  )
}

function cellAt(target: EventTarget | null): HTMLElement | null {
  return target instanceof Element ? target.closest('td') : null
}
