/** Chooses the members that are columns. @module */

import { Dialog } from './dialog.js'
import { shownName } from './item.js'
import { formatted } from './numbers.js'
import type { Overview } from './overview.js'

/** Columns of a table whose columns nobody has chosen; `project_id` is one of them. */
const firstColumns = 8

/** The columns that a table has by itself: the members that most items have. */
export function usualColumns({ names }: Overview): string[] {
  return ['project_id', ...names.slice(0, firstColumns - 1)]
}

export interface ColumnsProps {
  readonly overview: Overview
  readonly columns: readonly string[]
  /** `undefined` for the usual ones. */
  readonly onChange: (columns: readonly string[] | undefined) => void
  readonly onClose: () => void
}

export function Columns({ overview, columns, onChange, onClose }: ColumnsProps) {
  const all = ['project_id', ...overview.names]
  const names = [...columns, ...all.filter((name) => !columns.includes(name))]
  return (
    <Dialog title="Columns" class="small" onClose={onClose}>
      <p>
        Members of the first items, the most used first.
        {overview.otherNames > 0 && ` ${formatted(overview.otherNames)} more are left out.`} Open an
        item to see all that it has.
      </p>
      <div class="choices">
        {names.map((name) => (
          <label key={name}>
            <input
              type="checkbox"
              checked={columns.includes(name)}
              onChange={({ currentTarget: { checked } }) =>
                onChange(checked ? [...columns, name] : columns.filter((each) => each !== name))
              }
            />
            <span>{shownName(name)}</span>
          </label>
        ))}
      </div>
      <div class="buttons">
        <button type="button" onClick={() => onChange(undefined)}>
          The usual ones
        </button>
        <button type="button" class="main last" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  )
}
