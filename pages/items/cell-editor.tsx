/** Edits a member's value in its table cell. Nothing else in the item's JSON text changes. @module */

import { useMemo, useRef, useState } from 'preact/hooks'
import { Button } from '../shared/components.js'
import { activeCell } from './cells.js'
import { ChangedError } from './changes.js'
import { Dialog, useConfirmedClose, useWarning } from './dialog.js'
import { withValue } from './draft.js'
import { itemOf, memberText, shownName } from './item.js'
import { stringOf } from './members.js'
import { lossWhileSaving, notSaved, saveItem } from './save.js'
import type { Page } from './use-page.js'

/** Minimum width of the text field, in CSS pixels. The keyboard hint below the field needs this much space. */
const narrowest = 240

/** Minimum space below the edited cell for the editor and an error message, in CSS pixels. */
const space = 256

export function CellEditor(page: Page & { readonly cell: NonNullable<Page['cell']> }) {
  const { item, name } = page.cell
  const value = memberText(item, name) ?? ''
  const isString = value.startsWith('"')
  const isBoolean = /^(true|false)$/.test(value)
  const start = isString ? stringOf(value) : value
  const [typed, setTyped] = useState(start)
  const [problem, setProblem] = useState<unknown>()
  const [isSaving, setSaving] = useState(false)
  const place = useMemo(placeOfCell, [])
  const [close, confirmation] = useConfirmedClose(isSaving ? lossWhileSaving : undefined, () =>
    onClose(0),
  )
  useWarning(typed !== start)

  /** @param columns number of columns by which the active cell moves to the right; negative to move left. */
  function onClose(columns: number): void {
    page.setCell(undefined)
    const { names } = page.tracks
    const next = names.indexOf(name) + columns
    if (next < names.length) page.setColumn(names[next])
  }
  /** The text field; `null` after the editor has closed, so that a late response does not close the next editor. */
  const field = useRef<HTMLInputElement>(null)

  async function save(columns: number, typed: string): Promise<void> {
    if (isSaving) return
    if (typed === start) return onClose(columns)
    const edited = withValue(item.text, name, isString ? JSON.stringify(typed) : typed.trim())
    setProblem(edited.fault)
    if (edited.fault !== undefined) return
    setSaving(true)
    try {
      const saved = await saveItem(item, edited.text, '')
      page.collection.put(saved)
      if (item.id === page.draft?.item?.id) page.follow(itemOf(saved))
      if (field.current) onClose(columns)
    } catch (error) {
      if (!(error instanceof ChangedError)) setProblem(error)
      else if (field.current) {
        page.setCell(undefined)
        page.onFound(error)
        page.openDraft(edited.text, item)
      }
      page.onProblem(error)
    } finally {
      setSaving(false)
    }
  }

  return (
    <>
      <Dialog
        title={`Edit ${shownName(name)}`}
        class="cell"
        style={place}
        onClose={close}
        onOutside={() => save(0, typed)}
        onKeyDown={(event) => {
          const { key, shiftKey, isComposing } = event
          if (isComposing) return
          if (isBoolean && /^Arrow(Up|Down)$/.test(key))
            setTyped(typed === 'true' ? 'false' : 'true')
          else if (key === 'Enter' || key === 'Tab')
            save(key === 'Enter' ? 0 : shiftKey ? -1 : 1, typed)
          else return
          event.preventDefault()
        }}
      >
        <input
          ref={field}
          autofocus
          aria-label={`${shownName(name)}, ${isString ? 'text' : 'JSON'}`}
          aria-describedby="cell-keys"
          aria-invalid={problem !== undefined}
          aria-busy={isSaving}
          readOnly={isSaving}
          value={typed}
          onFocus={(event) => event.currentTarget.select()}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
        {isBoolean && (
          <div class="line hint">
            {['true', 'false'].map((each) => (
              // The Tab key skips the `true` and `false` buttons, because the arrow keys also choose a boolean.
              <Button
                key={each}
                tabIndex={-1}
                aria-pressed={typed.trim() === each}
                onClick={() => save(0, each)}
              >
                {each}
              </Button>
            ))}
          </div>
        )}
        <p id="cell-keys" class="hint">
          {isBoolean && '↑ ↓ switch, '}Enter saves, Esc cancels
        </p>
        {problem !== undefined && (
          <p class="problem" role="alert">
            {typeof problem === 'string' ? problem : notSaved(problem, page.listProblem)}
          </p>
        )}
      </Dialog>
      {confirmation}
    </>
  )
}

function placeOfCell(): Record<string, string> {
  const cell = document.getElementById(activeCell)
  const box = cell?.getBoundingClientRect() ?? new DOMRect()
  const width = Math.min(Math.max(narrowest, box.width), innerWidth)
  const left = Math.max(0, Math.min(box.left, innerWidth - width))
  /** In a card, the editor opens above or below the cell, because the cell also shows the member's name. */
  const beside = cell?.dataset.name ? box.height : 0
  return {
    left: `${left}px`,
    width: `${width}px`,
    ...(innerHeight - box.bottom >= space
      ? { top: `${box.top + beside}px` }
      : { bottom: `${innerHeight - box.bottom + beside}px`, flexDirection: 'column-reverse' }),
  }
}
