/** The panel for adding or editing an item. Typed text is kept until the user saves or discards it. @module */

import { useRef } from 'preact/hooks'
import { Button } from '../../shared/components.js'
import { layOut } from '../../shared/json-layout.js'
import { isCommand, keyOf } from '../../shared/keys.js'
import { whyInvalid } from '../model/draft.js'
import type { Item } from '../model/item.js'
import { open } from '../state/overlay.js'
import { panel } from '../state/panel.js'
import { copyOf, draftOf, isDirty, type Session } from '../state/session.js'
import { Dialog, Question, useWarning } from '../ui/dialog.js'
import { Icon } from '../ui/icons.js'
import { Conflict } from './conflict.js'
import { EditorPane } from './editor-pane.js'
import type { JsonEditor } from './json-editor.js'
import { notSaved, save as saveSession } from './save.js'

interface PanelProps {
  readonly session: Session
  readonly rows: readonly Item[]
}

const { dispatch } = panel

export function Panel({ session, rows }: PanelProps) {
  const { item, typed, state, problem, pending } = session
  const editor = useRef<JsonEditor>(undefined)
  const isSaving = state === 'saving'
  useWarning(isSaving || isDirty(session))

  const close = () => dispatch({ type: 'go', to: 'close' })
  const move = (step: number) => {
    const row = rows[rows.findIndex(({ id }) => id === item?.id) + step]
    if (row) dispatch({ type: 'go', to: draftOf(row) })
  }
  const toSave = () => editor.current?.textToSave(session.source) ?? session.source
  function isValid(): boolean {
    const error = whyInvalid(typed)
    if (error) editor.current?.goTo(error.from)
    return !error
  }

  /** @param base version that the typed text replaces; `undefined` to create an item. */
  function save(base: Item | undefined): void {
    if (!isSaving && isValid()) saveSession(panel, base, toSave())
  }

  return (
    <Dialog
      class="panel"
      isBeside
      title={item ? 'Edit item' : 'New item'}
      actions={
        <>
          {item &&
            ([-1, 1] as const).map((by) => (
              <Button
                key={by}
                class="quiet"
                title={by < 0 ? 'Previous row (Alt + ↑)' : 'Next row (Alt + ↓)'}
                aria-label={by < 0 ? 'Previous row' : 'Next row'}
                onClick={() => move(by)}
              >
                <Icon name={by < 0 ? 'up' : 'down'} />
              </Button>
            ))}
          <Button class="quiet" onClick={close}>
            <Icon name="close" /> <span class="unseen">Close</span>
          </Button>
        </>
      }
      onClose={close}
      onKeyDown={(event) => {
        const key = keyOf(event)
        const by = { ArrowUp: -1, ArrowDown: 1 }[key]
        if (/^(?:s|Enter)$/.test(key) && isCommand(event)) save(item)
        else if (event.altKey && by && item) move(by)
        else return
        event.preventDefault()
      }}
    >
      {item && (
        <p class="id" translate={false}>
          {item.id}
        </p>
      )}
      {problem !== undefined && (
        <p class="problem" role="alert">
          {notSaved(problem)}
        </p>
      )}
      <EditorPane session={session} editor={editor} />
      <div class="line foot">
        {/* This notice is below the editor, so that text does not move when the notice appears during typing. */}
        <Conflict
          session={session}
          onKeep={() => {
            save(session.stored)
            editor.current?.focus() // the pressed button disappears
          }}
          onAdopt={() => {
            dispatch({ type: 'adopt' })
            editor.current?.focus()
          }}
        />
        {item && (
          <>
            <Button class="quiet danger" onClick={() => open({ kind: 'delete', items: [item] })}>
              Delete
            </Button>
            <Button class="quiet" onClick={() => dispatch({ type: 'open', to: copyOf(toSave()) })}>
              Duplicate
            </Button>
          </>
        )}
        <Button class="quiet" onClick={() => isValid() && editor.current?.replace(layOut(typed))}>
          Format
        </Button>
        <Button class="last" onClick={close}>
          Cancel
        </Button>
        <Button
          class="main"
          aria-disabled={isSaving || state === 'conflict'}
          onClick={() => save(item)}
        >
          {isSaving ? 'Saving…' : 'Save'}
        </Button>
      </div>
      {pending && !isSaving && (
        <Question
          title="Discard your changes?"
          text="What you have typed is not saved."
          action="Discard"
          onStay={() => dispatch({ type: 'stay' })}
          onLeave={() => dispatch({ type: 'discard' })}
        />
      )}
    </Dialog>
  )
}
