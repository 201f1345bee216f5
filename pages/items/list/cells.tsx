/** The table cells of an item's row. @module */

import type { ComponentChildren } from 'preact'
import { useMemo } from 'preact/hooks'
import { type Item, projectOf, shownName } from '../model/item.js'
import { lastMembers, type Member } from '../model/members.js'
import { shownValue, typeOf } from '../model/values.js'
import type { Column } from '../state/columns.js'
import { JsonText } from './json-text.js'

const longestRest = 300 // characters of the cell with the members that have no column
const mostOnCard = 3

export type GridLayout = 'table' | 'cards' | 'json' // `cards`: the table on a narrow screen

export const activeCell = 'active-cell'

interface CellsProps {
  readonly item: Item
  readonly layout: GridLayout
  readonly columns: readonly Column[]
  readonly hasRest: boolean // the last column lists the members without a column
  /** Column of the active cell, `id` for the first one; `undefined` if it is in another row. */
  readonly active: string | undefined
  readonly isSelected: boolean
}

export function Cells({ item, layout, columns, hasRest, active, isSelected }: CellsProps) {
  const members = useMemo(() => lastMembers(item.text), [item])
  return useMemo(() => {
    /** The Tab key skips the checkbox, because Space also selects the row. */
    const box = (
      <span class="box">
        <input type="checkbox" aria-label="Select" tabIndex={-1} checked={isSelected} />
      </span>
    )
    if (layout === 'json') {
      return (
        <td id={active && activeCell}>
          {box}
          <JsonText text={item.text} />
        </td>
      )
    }
    const isCard = layout === 'cards'
    const own = columns.filter(({ name }) => members.has(name) && !isShownAnyway(name))
    const cells = isCard ? own.slice(0, mostOnCard) : columns.slice(1)
    const isThere = cells.some(({ name }) => name === active)
    const idOf = (name: string) =>
      active && name === (isThere ? active : 'id') ? activeCell : undefined
    return [
      <td key="id" id={idOf('id')} data-name="id">
        {box}
        <span class="open">{item.id}</span>
        {isCard && <span class="project">{projectOf(item)}</span>}
      </td>,
      cells.map(({ name }) => {
        const member = members.get(name)
        if (!member) return <td key={`.${name}`} id={idOf(name)} data-name={name} />
        const { text, short } = shownValue(item.text, member)
        const { classes, isText, isNested } = typeOf(text)
        return (
          <td
            key={`.${name}`}
            id={idOf(name)}
            class={classes}
            data-name={name}
            // In a screen reader, quotes tell a string from a number or literal.
            aria-label={isText && (isCard ? `${shownName(name)}: ` : '') + text}
          >
            {isNested ? <span>{short}</span> : short}
          </td>
        )
      }),
      hasRest && (
        <td key="rest" class="rest">
          {restOf(item, members, columns)}
        </td>
      ),
    ]
  }, [item, members, layout, columns, hasRest, active, isSelected])
}

function isShownAnyway(name: string): boolean {
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
