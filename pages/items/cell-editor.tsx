/** Edits the value of one member where it is shown: only its characters change in the text of the item. @module */

import { useMemo, useRef, useState } from 'preact/hooks'
import { activeCell } from './cells.js'
import { ChangedError } from './changes.js'
import { Dialog, useConfirmedClose, useWarning } from './dialog.js'
import { withValue } from './draft.js'
import { type Item, memberText, shownName } from './item.js'
import { stringOf } from './members.js'
import { lossWhileSaving, notSaved, saveItem } from './save.js'

export interface CellEditorProps {
  /** As the user has seen it. */
  readonly item: Item
  readonly name: string
  /** What is wrong with the list, as the page already says. */
  readonly listProblem: unknown
  readonly onSaved: (text: string) => void
  /** Something else is stored than what the user has seen. @param text that was to be saved. */
  readonly onConflict: (found: ChangedError, text: string) => void
  readonly onProblem: (problem: unknown) => void
  /** @param columns how far to move from this one. */
  readonly onClose: (columns: number) => void
}

/** Narrowest field, in CSS pixels: as wide as what is said about its keys. */
const narrowest = 180

/** What is wrong with a value has at least this space below it, in CSS pixels. */
const space = 256

export function CellEditor(props: CellEditorProps) {
  const { item, name, listProblem, onSaved, onConflict, onProblem, onClose } = props
  const value = memberText(item, name) ?? ''
  const isString = value.startsWith('"')
  const start = isString ? stringOf(value) : value
  const [typed, setTyped] = useState(start)
  /** What is wrong with what was typed, in words, or why it was not saved. */
  const [problem, setProblem] = useState<unknown>()
  const [isSaving, setSaving] = useState(false)
  const place = useMemo(placeOfCell, [])
  const [close, confirmation] = useConfirmedClose(isSaving ? lossWhileSaving : undefined, () =>
    onClose(0),
  )
  useWarning(typed !== start)
  /** `null` once this is closed: a late result changes nothing that was opened since. */
  const field = useRef<HTMLInputElement>(null)

  async function save(columns: number): Promise<void> {
    if (isSaving) return
    if (typed === start) {
      onClose(columns)
      return
    }
    const edited = withValue(item.text, name, isString ? JSON.stringify(typed) : typed.trim())
    setProblem(edited.fault)
    if (edited.fault !== undefined) return
    setSaving(true)
    try {
      onSaved(await saveItem(item, edited.text, ''))
      if (field.current) onClose(columns)
    } catch (error) {
      if (!(error instanceof ChangedError)) setProblem(error)
      else if (field.current) onConflict(error, edited.text)
      onProblem(error)
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
        onOutside={() => save(0)}
        onKeyDown={(event) => {
          if (!['Enter', 'Tab'].includes(event.key) || event.isComposing) return
          event.preventDefault()
          save(event.key === 'Enter' ? 0 : event.shiftKey ? -1 : 1)
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
        <p id="cell-keys" class="hint">
          Enter saves, Esc cancels
        </p>
        {problem !== undefined && (
          <p class="problem" role="alert">
            {typeof problem === 'string' ? problem : notSaved(problem, listProblem)}
          </p>
        )}
      </Dialog>
      {confirmation}
    </>
  )
}

/** Above the active cell, but within the window, with space for what is wrong below it, or else above. */
function placeOfCell(): Record<string, string> {
  const cell = document.getElementById(activeCell)
  const box = cell?.getBoundingClientRect() ?? new DOMRect()
  const width = Math.min(Math.max(narrowest, box.width), innerWidth)
  const left = Math.max(0, Math.min(box.left, innerWidth - width))
  /** On a card, the name of the member is in the cell, and must not be covered. */
  const beside = cell?.dataset.name ? box.height : 0
  return {
    left: `${left}px`,
    width: `${width}px`,
    ...(innerHeight - box.bottom >= space
      ? { top: `${box.top + beside}px` }
      : { bottom: `${innerHeight - box.bottom + beside}px`, flexDirection: 'column-reverse' }),
  }
}
