/** The cells of a row in the list. @module */

import { useMemo } from 'preact/hooks'
import { coloured } from '../shared/json-colours.js'
import { cellAt } from './head.js'
import { type Item, kindOf, shownName, shownValue } from './item.js'
import { lastMembers, type Member } from './members.js'
import type { Selection } from './selection.js'
import type { Look } from './table.js'
import type { Column } from './tracks.js'

/** Maximum number of characters of an item's JSON in its row. */
const longestRow = 800
/** Maximum length of the list of members that have no column, in characters. */
const longestRest = 200
const mostOnCard = 3

/** Element id of the active cell, on which keys act. */
export const activeCell = 'active-cell'

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
  readonly look: Look
  readonly columns: readonly Column[]
  /** Columns that a table renders, without those that are scrolled far out of view. */
  readonly drawn: readonly Column[]
  /** Place of the active cell's column; `undefined` if another row is active. */
  readonly active: number | undefined
  readonly isSelected: boolean
}

/** Renders the cells of an item. Its text is read only now, and is inserted as text, never as markup. */
export function Cells({ item, look, columns, drawn, active, isSelected }: CellsProps) {
  const members = useMemo(
    () => (look === 'json' ? undefined : lastMembers(item.text)),
    [item, look],
  )
  return useMemo(() => {
    /** Checkbox that selects the row. The Tab key skips it, because the Space key selects rows as well. */
    const box = (
      <span class="box">
        <input type="checkbox" aria-label="Select" tabIndex={-1} checked={isSelected} />
      </span>
    )
    if (!members) {
      return (
        <td id={active === undefined ? undefined : activeCell}>
          {box}
          <span>{coloured(item.text.slice(0, longestRow))}</span>
        </td>
      )
    }
    const isSeen = ({ name }: Column) => members.has(name) && !isCommon(name)
    const hasRest = !columns.some(isSeen) && [...members.keys()].some((name) => !isCommon(name))
    const isCard = look === 'cards'
    const cells = isCard
      ? columns.filter(isSeen).slice(0, mostOnCard)
      : drawn.filter(({ place }) => place > 0)
    // If a card does not show the active column, its id is the active cell.
    const isThere = !isCard || cells.some(({ place }) => place === active)
    const idOf = (place: number) =>
      active !== undefined && place === (isThere ? active : 0) ? activeCell : undefined
    return [
      <td key="id" id={idOf(0)} {...cellAt({ place: 0, isPinned: true })}>
        {box}
        <span class="open">{item.id}</span>
      </td>,
      hasRest ? (
        <td
          key="rest"
          id={isThere && active ? activeCell : undefined}
          class="rest"
          colSpan={columns.length - 1}
          aria-colindex={2}
        >
          {restOf(item, members)}
        </td>
      ) : (
        cells.map((column) => {
          const member = members.get(column.name)
          const { text, short } = member ? shownValue(item.text, member) : {}
          const name = isCard ? `${shownName(column.name)}: ` : ''
          const kind = text && kindOf(text)
          return (
            <td
              key={`.${column.name}`}
              id={idOf(column.place)}
              class={text === 'null' ? text : kind}
              // Screen readers get a string with its quotes, so that it still differs from other values.
              aria-label={kind === 'string' ? name + text : undefined}
              data-name={name || undefined}
              {...cellAt(column)}
            >
              {kind === 'nested' ? <span>{short}</span> : short}
            </td>
          )
        })
      ),
    ]
  }, [item, members, look, columns, drawn, active, isSelected])
}

/** Whether a name belongs to a member that all items have. */
function isCommon(name: string): boolean {
  return name === 'id' || name === 'project_id'
}

/** Lists the members of an item that has no value in any column. */
function restOf({ text }: Item, members: ReadonlyMap<string, Member>): string {
  return [...members.values()]
    .filter(({ name }) => name !== 'id')
    .map((member) => `${shownName(member.name)}: ${shownValue(text, member).text}`)
    .join(', ')
    .slice(0, longestRest)
}
