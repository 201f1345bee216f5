/** Edits a member's value in its table cell. Nothing else in the item's JSON text changes. @module */

import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { keyOf } from '../../shared/keys.js'
import { withValue } from '../model/draft.js'
import { type Item, shownName } from '../model/item.js'
import { jsonOf, typeOf } from '../model/values.js'
import { useColumns } from '../state/columns.js'
import { moveAside } from '../state/cursor.js'
import { useList } from '../state/list.js'
import { createEditing, useSession } from '../state/panel.js'
import { cellDraft, isDirty } from '../state/session.js'
import { Dialog, useWarning } from '../ui/dialog.js'
import { Conflict } from './conflict.js'
import { notSaved, save as saveSession } from './save.js'

interface CellEditorProps {
  readonly item: Item
  readonly name: string
  readonly onClose: () => void
}

export function CellEditor({ item, name, onClose }: CellEditorProps) {
  const [editing] = useState(() => createEditing(cellDraft(item, name)))
  const { dispatch } = editing
  const { columns } = useColumns()
  const { problem: listProblem } = useList() // shown already, so not here
  const session = useSession(editing)
  const [fault, setFault] = useState<string>()
  const field = useRef<HTMLInputElement>(null)
  useLayoutEffect(() => {
    if (!session) onClose()
  }, [session])
  useWarning(session !== undefined && isDirty(session))
  if (!session) return null

  const { source, typed, state, problem } = session
  const type = typeOf(source)
  const isSaving = state === 'saving'
  const isInvalid = fault !== undefined || state === 'failed' || state === 'conflict'

  /**
   * @param base version of the item to replace; `undefined` to create an item.
   * @param by number of columns by which the active cell then moves to the right; negative to move left.
   */
  async function save(base: Item | undefined, by = 0): Promise<void> {
    const now = editing.get()
    if (!now || now.state === 'saving') return
    if (now.state !== 'conflict' && !isDirty(now)) return close(by)
    const edited = withValue((base ?? item).text, name, jsonOf(type, now.typed))
    setFault(edited.fault)
    if (edited.fault !== undefined) return
    if (await saveSession(editing, base, edited.text)) return moveAside(columns, by)
    const next = editing.get()
    if (next?.state === 'dirty') await save(next.item, by) // only other members were changed elsewhere
  }

  function close(by: number): void {
    dispatch({ type: 'discard' })
    moveAside(columns, by)
  }

  return (
    <Dialog
      title={`Edit ${shownName(name)}`}
      isTitleHidden
      class="cell"
      onClose={() => (isSaving ? dispatch({ type: 'go', to: 'close' }) : close(0))}
      onOutside={() => save(session.item)}
      onKeyDown={(event) => {
        const key = keyOf(event)
        const isInField = event.target === field.current
        if (isInField && key === 'Enter') save(session.item)
        else if (isInField && key === 'Tab' && state !== 'conflict')
          save(session.item, event.shiftKey ? -1 : 1)
        else return
        event.preventDefault()
      }}
    >
      <input
        ref={field}
        autofocus
        aria-label={`${shownName(name)}, ${type.isText ? 'text' : 'JSON'}`}
        aria-describedby="cell-keys"
        aria-invalid={isInvalid}
        aria-busy={isSaving}
        readOnly={isSaving}
        value={typed}
        onFocus={(event) => event.currentTarget.select()}
        onInput={(event) => dispatch({ type: 'typed', text: event.currentTarget.value })}
      />
      <div class="notes">
        <p id="cell-keys" class="hint">
          Enter saves, Esc cancels
        </p>
        {(fault !== undefined || problem !== undefined) && (
          <p class="problem" role="alert">
            {fault ?? notSaved(problem, listProblem)}
          </p>
        )}
        <Conflict session={session} onKeep={() => save(session.stored)} />
      </div>
    </Dialog>
  )
}
