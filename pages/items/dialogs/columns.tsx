/** The dialog in which the user chooses the columns and their order. @module */

import { useState } from 'preact/hooks'
import { Button } from '../../shared/components.js'
import { formatted } from '../../shared/numbers.js'
import { shownName } from '../model/item.js'
import { changeLayout, moveColumn, useColumns } from '../state/columns.js'
import { useShape } from '../state/list.js'
import { changeView, view } from '../state/view.js'
import { Dialog } from '../ui/dialog.js'
import { Icon } from '../ui/icons.js'

const mostWithoutSearch = 12 // members; with more, the dialog has a search field

export function Columns({ onClose }: { onClose: () => void }) {
  const shape = useShape()
  const names = useColumns()
    .columns.slice(1)
    .map(({ name }) => name)
  const [query, setQuery] = useState('')
  const all = [...names, ...['project_id', ...shape.names].filter((name) => !names.includes(name))]
  const isFound = (name: string) => name.toLowerCase().includes(query.toLowerCase())

  function choose(name: string, isChosen: boolean): void {
    changeLayout({ names: isChosen ? [...names, name] : names.filter((each) => each !== name) })
    if (view.get().sort?.name === name) changeView({ sort: undefined }) // otherwise nobody would see why rows have this order
  }

  return (
    <Dialog title="Columns" class="columns" onOutside={onClose} onClose={onClose}>
      {all.length > mostWithoutSearch && (
        <input
          type="search"
          aria-label="Search members"
          placeholder="Search members"
          value={query}
          onInput={({ currentTarget }) => setQuery(currentTarget.value)}
        />
      )}
      <p class="aside">
        These are the members that the first items have.
        {shape.otherNames > 0 && ` ${formatted(shape.otherNames)} more are not listed.`}
      </p>
      <ul class="choices" translate={false}>
        {all.map(
          (name, at) =>
            isFound(name) && (
              <li key={`.${name}`} class="line">
                <label>
                  <input
                    type="checkbox"
                    checked={at < names.length}
                    onChange={({ currentTarget }) => choose(name, currentTarget.checked)}
                  />
                  <span>{shownName(name)}</span>
                </label>
                {at < names.length &&
                  ([-1, 1] as const).map((step) => (
                    <Button
                      key={step}
                      aria-label={`Move ${shownName(name)} ${step < 0 ? 'to the left' : 'to the right'}`}
                      aria-disabled={names[at + step] === undefined}
                      onClick={({ currentTarget }) => {
                        moveColumn(names, name, names[at + step])
                        requestAnimationFrame(() => currentTarget.focus()) // moving the button takes its focus
                      }}
                    >
                      <Icon name={step < 0 ? 'up' : 'down'} />
                    </Button>
                  ))}
              </li>
            ),
        )}
      </ul>
      <div class="line">
        <Button onClick={() => changeLayout(undefined)}>Default columns</Button>
        <Button class="main last" onClick={onClose}>
          Close
        </Button>
      </div>
    </Dialog>
  )
}
