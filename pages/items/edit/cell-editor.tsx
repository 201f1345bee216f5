/** Edits a member's value in its table cell. Nothing else in the item's JSON text changes. @module */

import { useLayoutEffect, useReducer, useRef, useState } from 'preact/hooks'
import { Button } from '../../shared/components.js'
import { keyOf } from '../../shared/keys.js'
import { activeCell } from '../cells.js'
import { newKey } from '../changes.js'
import { Dialog, useWarning } from '../dialog.js'
import { withValue } from '../draft.js'
import { type Item, shownName } from '../item.js'
import type { OverlayOf } from '../state/overlay.js'
import type { Page } from '../use-page.js'
import { Conflict } from './conflict.js'
import { notSaved, save as saveSession } from './save.js'
import { begin, cellDraft, isDirty, reduce } from './session.js'

/** Minimum width of the text field, in CSS pixels. The keyboard hint below the field needs this much space. */
const narrowest = 240

/** Minimum space below the edited cell for the editor and an error message, in CSS pixels. */
const space = 256

export function CellEditor(page: Page & { readonly overlay: OverlayOf<'cell'> }) {
  const { item, name } = page.overlay
  const [session, dispatch] = useReducer(reduce, undefined, () => begin(cellDraft(item, name)))
  const [fault, setFault] = useState<string>()
  const [createKey] = useState(newKey)
  const [place, setPlace] = useState(placeOfCell)
  const field = useRef<HTMLInputElement>(null)
  const listed = page.items.find(({ id }) => id === item.id)
  useLayoutEffect(() => {
    if (listed) dispatch({ type: 'listed', id: item.id, item: listed })
  }, [listed])
  useLayoutEffect(() => {
    if (!session) page.close('cell')
  }, [session])
  // Rows can move while a cell is edited.
  useLayoutEffect(() => {
    const now = placeOfCell()
    if (now && JSON.stringify(now) !== JSON.stringify(place)) setPlace(now)
  })
  useWarning(session !== undefined && isDirty(session))
  if (!session) return null

  const { source, typed, state, problem } = session
  const isString = source.startsWith('"')
  const isBoolean = /^(true|false)$/.test(source)
  const isSaving = state === 'saving'
  const isInvalid = fault !== undefined || state === 'failed' || state === 'conflict'

  /**
   * @param text text to save, which may be newer than the text in the session.
   * @param base version of the item to replace; `undefined` to create an item.
   * @param columns number of columns by which the active cell then moves to the right; negative to move left.
   */
  async function save(text: string, base: Item | undefined, columns = 0): Promise<void> {
    if (!session || isSaving) return
    if (state !== 'conflict' && !isDirty({ ...session, typed: text })) return close(columns)
    const value = isString ? JSON.stringify(text) : text.trim()
    const edited = withValue((base ?? item).text, name, value)
    setFault(edited.fault)
    if (edited.fault !== undefined) return
    dispatch({ type: 'typed', text })
    const part = { base, text: edited.text, createKey }
    const { saved } = await saveSession(page, session, dispatch, part)
    if (saved) moveBy(columns)
  }

  function moveBy(columns: number): void {
    const { names } = page.tracks
    const next = names.indexOf(name) + columns
    if (next < names.length) page.setColumn(names[next])
  }

  function close(columns: number): void {
    dispatch({ type: 'discard' })
    moveBy(columns)
  }

  return (
    <Dialog
      title={`Edit ${shownName(name)}`}
      class="cell"
      style={place ?? {}}
      onClose={() => (isSaving ? dispatch({ type: 'go', to: 'close' }) : close(0))}
      onOutside={() => save(typed, session.item)}
      onKeyDown={(event) => {
        const key = keyOf(event)
        const isInField = event.target === field.current
        if (isBoolean && /^Arrow(Up|Down)$/.test(key))
          dispatch({ type: 'typed', text: typed === 'true' ? 'false' : 'true' })
        else if (isInField && key === 'Enter') save(typed, session.item)
        else if (isInField && key === 'Tab' && state !== 'conflict')
          save(typed, session.item, event.shiftKey ? -1 : 1)
        else return
        event.preventDefault()
      }}
    >
      <input
        ref={field}
        autofocus
        aria-label={`${shownName(name)}, ${isString ? 'text' : 'JSON'}`}
        aria-describedby="cell-keys"
        aria-invalid={isInvalid}
        aria-busy={isSaving}
        readOnly={isSaving}
        value={typed}
        onFocus={(event) => event.currentTarget.select()}
        onInput={(event) => dispatch({ type: 'typed', text: event.currentTarget.value })}
      />
      {isBoolean && (
        <div class="line hint">
          {['true', 'false'].map((each) => (
            // The Tab key skips the `true` and `false` buttons, because the arrow keys also choose a boolean.
            <Button
              key={each}
              tabIndex={-1}
              aria-pressed={typed.trim() === each}
              onClick={() => save(each, session.item)}
            >
              {each}
            </Button>
          ))}
        </div>
      )}
      <p id="cell-keys" class="hint">
        {isBoolean && '↑ ↓ switch, '}Enter saves, Esc cancels
      </p>
      {(fault !== undefined || problem !== undefined) && (
        <p class="problem" role="alert">
          {fault ?? notSaved(problem, page.listProblem)}
        </p>
      )}
      <Conflict session={session} onKeep={() => save(typed, session.stored)} />
    </Dialog>
  )
}

/** Returns the place of the active cell; `undefined` if its row is not rendered. */
function placeOfCell(): Record<string, string> | undefined {
  const cell = document.getElementById(activeCell)
  if (!cell) return undefined
  const box = cell.getBoundingClientRect()
  const width = Math.min(Math.max(narrowest, box.width), innerWidth)
  const left = Math.max(0, Math.min(box.left, innerWidth - width))
  /** In a card, the editor opens above or below the cell, because the cell also shows the member's name. */
  const beside = cell.dataset.name ? box.height : 0
  return {
    left: `${left}px`,
    width: `${width}px`,
    ...(innerHeight - box.bottom >= space
      ? { top: `${box.top + beside}px` }
      : { bottom: `${innerHeight - box.bottom + beside}px`, flexDirection: 'column-reverse' }),
  }
}
