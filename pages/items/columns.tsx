/** Chooses the members that are columns. @module */

import { formatted } from '../shared/numbers.js'
import { Dialog } from './dialog.js'
import { shownName } from './item.js'
import type { Overview } from './overview.js'

export interface ColumnsProps {
  readonly overview: Overview
  readonly columns: readonly string[]
  /** `undefined` for the default ones. */
  readonly onChange: (columns: readonly string[] | undefined) => void
  readonly onClose: () => void
}

export function Columns({ overview, columns, onChange, onClose }: ColumnsProps) {
  const all = ['project_id', ...overview.names]
  const names = [...columns, ...all.filter((name) => !columns.includes(name))]
  return (
    <Dialog title="Columns" class="small" onClose={onClose}>
      <p>
        The members of the first items, most frequent first.
        {overview.otherNames > 0 && ` ${formatted(overview.otherNames)} more are not listed.`} Open
        an item to see all of its members.
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
          Default columns
        </button>
        <button type="button" class="main last" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  )
}
