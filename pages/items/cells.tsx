/** The table cells of an item's row. @module */

import type { ComponentChildren } from 'preact'
import { useMemo } from 'preact/hooks'
import { cellAt } from './head.js'
import { type Item, kindOf, projectOf, shownName, shownValue } from './item.js'
import { JsonText } from './json-text.js'
import { lastMembers, type Member } from './members.js'
import type { Look } from './table.js'
import type { Column } from './tracks.js'
import type { Page } from './use-page.js'

/** Maximum length of the cell that lists the members without a column, in characters. */
const longestRest = 300
const mostOnCard = 3

export const activeCell = 'active-cell'

export function SelectAll({ selection, rows }: Page) {
  const count = selection.items.length
  return (
    <input
      type="checkbox"
      aria-label="Select all rows"
      checked={count > 0 && count === rows.length}
      indeterminate={count > 0 && count < rows.length}
      onChange={({ currentTarget: { checked } }) =>
        checked ? selection.selectAll() : selection.clear()
      }
    />
  )
}

interface CellsProps {
  readonly item: Item
  readonly look: Look
  readonly columns: readonly Column[]
  /** Columns to render. Columns that are far out of view are left out. */
  readonly drawn: readonly Column[]
  readonly isRestShown: boolean
  /** Index of the active cell's column; `undefined` if another row is active. */
  readonly active: number | undefined
  readonly isSelected: boolean
}

/** Shows values as text, never as markup. */
export function Cells(props: CellsProps) {
  const { item, look, columns, drawn, isRestShown, active, isSelected } = props
  const members = useMemo(() => lastMembers(item.text), [item])
  return useMemo(() => {
    /** The Tab key skips the checkbox, because the Space key also selects the row. */
    const box = (
      <span class="box">
        <input type="checkbox" aria-label="Select" tabIndex={-1} checked={isSelected} />
      </span>
    )
    if (look === 'json') {
      return (
        <td id={active === undefined ? undefined : activeCell}>
          {box}
          <JsonText text={item.text} />
        </td>
      )
    }
    const isSeen = ({ name }: Column) => members.has(name) && !isCommon(name)
    const isCard = look === 'cards'
    const isEmpty =
      !isRestShown && !columns.some(isSeen) && [...members.keys()].some((name) => !isCommon(name))
    const cells = isCard
      ? columns.filter(isSeen).slice(0, mostOnCard)
      : drawn.filter(({ place }) => place > 0)
    // If a card does not show the active column, the card's id is the active cell.
    const isThere = !isCard || cells.some(({ place }) => place === active)
    const idOf = (place: number) =>
      active !== undefined && place === (isThere ? active : 0) ? activeCell : undefined
    return [
      <td key="id" id={idOf(0)} {...cellAt({ place: 0 })}>
        {box}
        <span class="open">{item.id}</span>
        {isCard && <span class="project">{projectOf(item)}</span>}
      </td>,
      !isEmpty &&
        cells.map((column) => {
          const member = members.get(column.name)
          const { text, short } = member ? shownValue(item.text, member) : {}
          const name = isCard ? `${shownName(column.name)}: ` : ''
          const kind = text && kindOf(text)
          return (
            <td
              key={`.${column.name}`}
              id={idOf(column.place)}
              class={kind === 'literal' ? text : kind}
              // Screen readers get a string with its quotes, so that it differs from a number or literal.
              aria-label={kind === 'string' ? name + text : undefined}
              data-name={name || undefined}
              {...cellAt(column)}
            >
              {kind === 'nested' ? <span>{short}</span> : datedOf(short)}
            </td>
          )
        }),
      (isEmpty || isRestShown) && (
        <td
          key="rest"
          id={isEmpty && active ? activeCell : undefined}
          class={isEmpty ? 'rest all' : 'rest'}
          colSpan={isEmpty ? columns.length - 1 : 1}
          {...cellAt({ place: isEmpty ? 1 : columns.length })}
        >
          {restOf(item, members, isEmpty ? [] : columns)}
        </td>
      ),
    ]
  }, [item, members, look, columns, drawn, isRestShown, active, isSelected])
}

/** Wraps the time of a timestamp in an element of its own, so that the date stands out. */
function datedOf(text = '') {
  const [, date, time] = /^(\d{4}-\d\d-\d\d)(T[\d:.]+(?:Z|[-+]\d\d:?\d\d)?)$/.exec(text) ?? []
  return time ? [date, <span key="time">{time}</span>] : text
}

function isCommon(name: string): boolean {
  return name === 'id' || name === 'project_id'
}

function restOf({ text }: Item, members: Map<string, Member>, columns: readonly Column[]) {
  const parts: ComponentChildren[] = []
  let length = 0
  for (const member of members.values()) {
    if (length > longestRest) break
    const { name } = member
    if (name === 'id' || columns.some((column) => column.name === name)) continue
    const { short } = shownValue(text, member)
    parts.push(parts.length > 0 && '   ', <span key={`.${name}`}>{shownName(name)}: </span>, short)
    length += name.length + short.length
  }
  return parts
}
