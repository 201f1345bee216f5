/** The column heads; a click on one sorts the list. @module */

import { Button } from '../../shared/components.js'
import { type Item, shownName } from '../model/item.js'
import { nextSort } from '../model/sort.js'
import { type Column, idWidth, resize } from '../state/columns.js'
import { open } from '../state/overlay.js'
import { selectAll, selectNone, useSelected } from '../state/selection.js'
import { changeView, view } from '../state/view.js'
import { Icon } from '../ui/icons.js'

interface HeadProps {
  readonly columns: readonly Column[]
  readonly hidden: number // members without a column, which the last column lists
  readonly rows: readonly Item[]
}

export function Head({ columns, hidden, rows }: HeadProps) {
  const { sort, isJson } = view.use()
  if (isJson) {
    return (
      <tr aria-rowindex={1}>
        <th scope="col">
          <SelectAll rows={rows} />
          JSON
        </th>
      </tr>
    )
  }
  return (
    <tr aria-rowindex={1}>
      {columns.map(({ name, isAtEnd }, place) => {
        const isSorted = sort?.name === name
        const order = isSorted && sort.isDescending ? 'descending' : 'ascending'
        return (
          <th
            key={`.${name}`}
            scope="col"
            aria-sort={isSorted ? order : undefined}
            class={isAtEnd ? 'end' : ''}
          >
            {place === 0 && <SelectAll rows={rows} />}
            <Button
              class="plain"
              title="Sort"
              onClick={() => changeView({ sort: nextSort(sort, name) })}
            >
              <span>{shownName(name)}</span>
              {isSorted && <Icon name={sort.isDescending ? 'down' : 'up'} />}
            </Button>
            {place > 0 && (
              // biome-ignore lint/a11y/noStaticElementInteractions: only the pointer can drag
              <span
                class="edge"
                onPointerDown={({ currentTarget, pointerId }) =>
                  currentTarget.setPointerCapture(pointerId)
                }
                onPointerMove={({ currentTarget, pointerId, movementX, clientX }) => {
                  if (movementX === 0 || !currentTarget.hasPointerCapture(pointerId)) return
                  resize(name, widthTo(clientX, currentTarget.closest('th')))
                }}
                onDblClick={() => resize(name, undefined)}
              />
            )}
          </th>
        )
      })}
      {hidden > 0 && (
        <th class="rest">
          <Button class="plain" onClick={() => open({ kind: 'columns' })}>
            +{hidden} more columns
          </Button>
        </th>
      )}
    </tr>
  )
}

function widthTo(end: number, head: HTMLElement | null): number {
  const { left = 0 } = head?.getBoundingClientRect() ?? {}
  const id = head?.parentElement?.querySelector('th')?.offsetWidth ?? 0
  return Math.round(((end - left) * idWidth) / id)
}

function SelectAll({ rows }: Pick<HeadProps, 'rows'>) {
  const selected = useSelected(rows).length
  return (
    <input
      type="checkbox"
      aria-label="Select all rows"
      checked={selected > 0 && selected === rows.length}
      indeterminate={selected > 0 && selected < rows.length}
      onChange={({ currentTarget: { checked } }) => (checked ? selectAll(rows) : selectNone())}
    />
  )
}
