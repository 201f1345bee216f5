/** The dialog in which the user chooses the columns and their order. @module */

import { useState } from 'preact/hooks'
import { Button } from '../shared/components.js'
import { formatted } from '../shared/numbers.js'
import { Dialog } from './dialog.js'
import { down, Icon, up } from './icons.js'
import { shownName } from './item.js'
import { defaultLayout, type Layout, moved } from './layout.js'
import { useIsNarrow } from './use-is-narrow.js'
import type { Page } from './use-page.js'

/** Number of members above which the dialog has a search field. */
const mostWithoutSearch = 12

export function Columns({ shape, tracks, layout, changeLayout, close }: Page) {
  const { names } = tracks
  const isNarrow = useIsNarrow()
  const [query, setQuery] = useState('')
  const others = ['project_id', ...shape.names].filter((name) => !names.includes(name))
  const all = [...names, ...others]
  const onClose = () => close('columns')
  const isFound = (name: string) => name.toLowerCase().includes(query.toLowerCase())

  /** Changes the layout, then focuses `button` again, because a button loses focus when its column moves. */
  const change = (part: Partial<Layout>, button: HTMLElement) => {
    changeLayout(part)
    requestAnimationFrame(() => button.focus())
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
        {isNarrow && 'A card shows the first three members that its item has. '}
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
                    onChange={({ currentTarget: { checked } }) =>
                      changeLayout({
                        names: checked ? [...names, name] : names.filter((each) => each !== name),
                        sort: layout.sort.filter((key) => key.name !== name), // removes a hidden column from the sort keys
                      })
                    }
                  />
                  <span>{shownName(name)}</span>
                </label>
                {at < names.length &&
                  ([-1, 1] as const).map((step) => (
                    <Button
                      key={step}
                      aria-label={`Move ${shownName(name)} ${step < 0 ? 'to the left' : 'to the right'}`}
                      aria-disabled={names[at + step] === undefined}
                      onClick={({ currentTarget }) =>
                        change(moved(layout, names, name, names[at + step]), currentTarget)
                      }
                    >
                      {step < 0 ? <Icon path={up} /> : <Icon path={down} />}
                    </Button>
                  ))}
              </li>
            ),
        )}
      </ul>
      <div class="line">
        <Button
          onClick={() => changeLayout({ ...defaultLayout, names: undefined, order: undefined })}
        >
          Default columns
        </Button>
        <Button class="main last" onClick={onClose}>
          Close
        </Button>
      </div>
    </Dialog>
  )
}
