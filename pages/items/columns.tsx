/** Chooses the members that are columns. @module */

import { Dialog } from './dialog.js'
import { mostUsed, type Overview } from './overview.js'

/** Columns of a table whose columns nobody has chosen; `project_id` is one of them. */
const firstColumns = 8

/** The columns that a table has by itself: the members that most items have. */
export function usualColumns({ names }: Overview): string[] {
  return ['project_id', ...mostUsed(names, firstColumns - 1)]
}

export interface ColumnsProps {
  readonly overview: Overview
  readonly columns: readonly string[]
  /** `undefined` for the usual ones. */
  readonly onChange: (columns: readonly string[] | undefined) => void
  readonly onClose: () => void
}

export function Columns({ overview, columns, onChange, onClose }: ColumnsProps) {
  const all = ['project_id', ...mostUsed(overview.names, overview.names.size)]
  const names = [...columns, ...all.filter((name) => !columns.includes(name))]
  return (
    <Dialog title="Columns" class="small" onClose={onClose}>
      <p>Members of the first items, the most used first. Open an item to see all that it has.</p>
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
            <span>{name}</span>
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
