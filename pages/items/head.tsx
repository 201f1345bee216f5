/** The table header, where the user sorts, resizes and reorders columns. @module */

import type { RenderableProps } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Button } from '../shared/components.js'
import { down, Icon, up } from './icons.js'
import { shownName } from './item.js'
import { moved, sortedBy, widest } from './layout.js'
import { type Column, narrowest } from './tracks.js'
import type { Page } from './use-page.js'

/** Minimum distance that the pointer must move to drag a column, in CSS pixels. A shorter movement is a click. */
const leastMove = 5
/** Width of the resize handle at the end of a column header, in CSS pixels. */
const edge = 10
/** Change in a column's width for each key press, in characters. */
const step = 2

type HeadProps = RenderableProps<Page & { readonly drawn: readonly Column[] }>

export function Head({ layout, changeLayout, tracks, open, drawn, children }: HeadProps) {
  const { sort } = layout
  const { columns, names, widths, hidden, hasRest } = tracks
  const [move, setMove] = useState<{ name: string; target: string }>()

  const moving = useRef<HTMLElement>(undefined)
  useLayoutEffect(() => {
    moving.current?.focus()
    moving.current = undefined
  })

  const place = (name: string, target: string | undefined) =>
    changeLayout(moved(layout, names, name, target))
  const resize = (name: string, width?: number) => {
    const others = layout.widths.filter(([each]) => each !== name)
    changeLayout({
      widths: width ? [...others, [name, Math.min(widest, Math.max(narrowest, width))]] : others,
    })
  }

  function onEdge(event: PointerEvent, head: HTMLElement, { name }: Column): void {
    const unit = widthOfCharacter(head.parentElement, widths)
    const before = head.offsetWidth / unit
    follow(event, (distance) => resize(name, Math.round(before + distance / unit)))
  }

  function onHead(event: PointerEvent, { name }: Column): void {
    let target: string | undefined
    const onMove = (distance: number, { clientX, clientY }: PointerEvent) => {
      if (target === undefined && Math.abs(distance) < leastMove) return
      const head = document.elementFromPoint(clientX, clientY)?.closest('th')
      target = columns[Number(head?.ariaColIndex) - 1]?.name ?? name
      setMove({ name, target })
    }
    follow(event, onMove, (isDone) => {
      if (isDone && target !== name) place(name, target)
      setMove(undefined)
    })
  }

  function onKeyDown(event: KeyboardEvent, button: HTMLElement, column: Column): void {
    const { key, shiftKey, ctrlKey, metaKey } = event
    const { name } = column
    const direction = { ArrowLeft: -1, ArrowRight: 1 }[key] ?? 0
    if (key === 'Backspace') resize(name)
    else if (direction !== 0 && shiftKey)
      resize(name, (widths[column.place] ?? 0) + step * direction)
    else if (direction !== 0 && (ctrlKey || metaKey)) {
      place(name, columns[column.place + direction]?.name)
      moving.current = button
    } else return
    event.preventDefault()
    event.stopPropagation() // the rows must not handle this key
  }

  return (
    <tr aria-rowindex={1}>
      {drawn.map((column) => {
        const { name } = column
        const at = sort.findIndex((key) => key.name === name)
        const order = sort[at]?.isDescending ? 'descending' : 'ascending'
        return (
          <th
            key={`.${name}`}
            scope="col"
            aria-sort={at < 0 ? undefined : order}
            data-numeric={column.isNumeric || undefined}
            class={move?.name === name ? 'moving' : move?.target === name ? 'target' : ''}
            onPointerDown={(event) => {
              if (event.button !== 0) return
              if (isOnEdge(event)) onEdge(event, event.currentTarget, column)
              else onHead(event, column)
            }}
            onDblClick={(event) => isOnEdge(event) && resize(name)}
            {...cellAt(column)}
          >
            {column.place === 0 && children}
            <Button
              class="plain"
              title="Sort; with Shift: one more key"
              onClick={({ shiftKey }) => changeLayout({ sort: sortedBy(sort, name, shiftKey) })}
              onKeyDown={(event) => onKeyDown(event, event.currentTarget, column)}
            >
              <span>{shownName(name)}</span>
              {at >= 0 && <Icon path={order === 'ascending' ? up : down} />}
              {at >= 0 && sort.length > 1 && (
                <>
                  <span class="unseen">key</span> {at + 1}
                </>
              )}
            </Button>
          </th>
        )
      })}
      {hidden > 0 && (
        <th class="more" {...cellAt({ place: columns.length })}>
          <Button class="quiet" onClick={() => open({ kind: 'columns' })}>
            +{hidden}
            <span class={hasRest ? '' : 'unseen'}> more columns</span>
          </Button>
        </th>
      )}
    </tr>
  )
}

export function SortMenu({ layout, changeLayout, tracks }: Page) {
  const orders = tracks.columns.flatMap(({ name }) => [
    { name, isDescending: false },
    { name, isDescending: true },
  ])
  const [key] = layout.sort
  const now = orders.findIndex(
    (each) => each.name === key?.name && each.isDescending === key.isDescending,
  )
  return (
    <select
      aria-label="Sort by"
      value={now}
      onChange={({ currentTarget: { value } }) => {
        const order = orders[Number(value)]
        changeLayout({ sort: order ? [order] : [] })
      }}
    >
      <option value={-1}>Sort by…</option>
      {orders.map(({ name, isDescending }, at) => (
        <option key={at} value={at}>
          {shownName(name)} {isDescending ? '↓' : '↑'}
        </option>
      ))}
    </select>
  )
}

export function widthOfCharacter(heads: Element | null, widths: readonly number[]): number {
  return (heads?.querySelector('th')?.getBoundingClientRect().width ?? 0) / (widths[0] ?? 1)
}

/** Places a cell in its column explicitly, because cells to the left of it may not be rendered. */
export function cellAt({ place }: Pick<Column, 'place'>) {
  return { 'aria-colindex': place + 1, style: { '--place': place + 1 } }
}

function isOnEdge({ target, currentTarget, clientX }: MouseEvent): boolean {
  if (target !== currentTarget || !(target instanceof Element)) return false
  return target.getBoundingClientRect().right - clientX < edge
}

/** Follows a drag. `onMove` gets the distance so far, in CSS pixels. `onEnd` gets `false` if the browser cancels it. */
function follow(
  { clientX }: PointerEvent,
  onMove: (distance: number, event: PointerEvent) => void,
  onEnd?: (isDone: boolean) => void,
): void {
  const controller = new AbortController()
  const { signal } = controller
  addEventListener('pointermove', (event) => onMove(event.clientX - clientX, event), { signal })
  for (const type of ['pointerup', 'pointercancel']) {
    addEventListener(
      type,
      () => {
        controller.abort()
        onEnd?.(type === 'pointerup')
      },
      { signal },
    )
  }
}
