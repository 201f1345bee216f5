/** The panel for adding or editing an item. Typed text is kept until the user saves or discards it. @module */

import { useState } from 'preact/hooks'
import { Button } from '../../shared/components.js'
import { layOut } from '../../shared/json-layout.js'
import { isCommand, keyOf } from '../../shared/keys.js'
import { newKey } from '../changes.js'
import { Panel, Question, useWarning } from '../dialog.js'
import { firstValue, placeInDraft, whyInvalid, withSpaceOf } from '../draft.js'
import { close as cross, down, Icon, up } from '../icons.js'
import type { Item } from '../item.js'
import type { Page } from '../use-page.js'
import { Conflict } from './conflict.js'
import { EditorPane, type Found } from './editor-pane.js'
import { notSaved, save as saveSession } from './save.js'
import { copyOf, draftOf, isDirty, type Session } from './session.js'

export function Edit(page: Page & { readonly session: Session }) {
  const { session, dispatch, editor, rows } = page
  const { item, isCopy, shown, typed, state, problem, pending } = session
  const [found, setFound] = useState<Found>()
  const [createKey] = useState(newKey)
  const isSaving = state === 'saving'
  useWarning(isSaving || isDirty(session))

  const close = () => dispatch({ type: 'go', to: 'close' })
  const move = (step: number) => {
    const row = rows[rows.findIndex(({ id }) => id === item?.id) + step]
    if (row) dispatch({ type: 'go', to: draftOf(row) })
  }
  const stay = () => {
    dispatch({ type: 'stay' })
    if (item) page.setActive(item)
  }
  const toSave = () => withSpaceOf(session.source, typed, editor.current?.kept() ?? [])

  function isValid(): boolean {
    const error = whyInvalid(typed)
    if (error) editor.current?.goTo(error.from)
    return !error
  }

  /** @param base version of the item that the typed text replaces; `undefined` to create an item. */
  async function save(base: Item | undefined): Promise<void> {
    if (isSaving || !isValid()) return
    const text = toSave()
    const { saved, problem } = await saveSession(page, session, dispatch, { base, text, createKey })
    if (saved) page.setActive(saved)
    const finding = problem instanceof Error ? placeInDraft(text, problem.message) : undefined
    setFound(text === typed && finding ? { text, finding } : undefined)
  }

  return (
    <Panel
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
                <Icon path={by < 0 ? up : down} />
              </Button>
            ))}
          <Button class="quiet" onClick={close}>
            <Icon path={cross} /> <span class="unseen">Close</span>
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
      <EditorPane
        {...{ editor, found }}
        hasFocus={session.hasFocus}
        text={typed}
        base={session.source}
        id={item?.id}
        cursor={item || isCopy ? undefined : firstValue(shown)}
        onChange={(text) => dispatch({ type: 'typed', text })}
      />
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
      <div class="line foot">
        {item && (
          <>
            <Button
              class="quiet danger"
              onClick={() => page.open({ kind: 'delete', items: [item] })}
            >
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
        <Button class="main" aria-disabled={isSaving} onClick={() => save(item)}>
          {isSaving ? 'Saving…' : 'Save'}
        </Button>
      </div>
      {pending && !isSaving && (
        <Question
          title="Discard your changes?"
          text="What you have typed is not saved."
          action="Discard"
          onStay={stay}
          onLeave={() => dispatch({ type: 'discard' })}
        />
      )}
    </Panel>
  )
}
