/** Adds an item or edits one. What was typed stays until it is saved or given up. @module */

import { useEffect, useRef, useState } from 'preact/hooks'
import { layOut } from '../shared/json-layout.js'
import { Confirm, Dialog } from './dialog.js'
import { checkDraft, placeInDraft, requestBody } from './draft.js'
import { EditorPane, type Found } from './editor-pane.js'
import { type Item, itemOf } from './item.js'
import type { JsonEditor } from './json-editor.js'
import { type ItemService, isGone, isUncertain, wordsFor } from './service.js'

export interface EditProps {
  /** The stored item; `undefined` for a new one. */
  readonly item: Item | undefined
  /** What the editor starts with. */
  readonly text: string
  /** Whether it would be a loss to leave without saving, although nothing was typed. */
  readonly isCopy: boolean
  /** The item in the latest list; `undefined` when it is not there. */
  readonly listed: Item | undefined
  readonly service: ItemService
  /** @param isDone whether nothing was typed meanwhile. */
  readonly onSaved: (text: string, isDone: boolean) => void
  readonly onDelete: (item: Item) => void
  readonly onDuplicate: (text: string) => void
  /** A request failed. */
  readonly onProblem: (problem: unknown) => void
  readonly onClose: () => void
}

/** What has happened elsewhere to the item: it has another text now, or is gone. */
type Conflict = { readonly text: string | undefined }

export function Edit(props: EditProps) {
  const { item, text, isCopy, listed, service } = props
  const { onSaved, onDelete, onDuplicate, onProblem, onClose } = props
  const editor = useRef<JsonEditor | undefined>(undefined)
  /** What the person has seen of the stored item. */
  const [seen, setSeen] = useState(item)
  const [conflict, setConflict] = useState<Conflict>()
  const [problem, setProblem] = useState<unknown>()
  const [found, setFound] = useState<Found>()
  const [isSaving, setSaving] = useState(false)
  const [isDirty, setDirty] = useState(isCopy)
  const [asksToLeave, setAsksToLeave] = useState(false)
  useWarning(isDirty)

  useEffect(() => {
    if (seen && listed?.text !== seen.text) setConflict({ text: listed?.text })
  }, [listed])

  /** The text, if it is an item; otherwise the cursor is put to what is wrong. */
  function validText(): string | undefined {
    const text = editor.current?.text() ?? ''
    const error = checkDraft(text).find(({ severity }) => severity === 'error')
    if (!error) return text
    editor.current?.goTo(error.from)
    return undefined
  }

  /** @param base what it replaces; `undefined` to create an item. */
  async function save(base: Item | undefined): Promise<void> {
    if (isSaving) return
    const text = validText()
    if (text === undefined) return
    setSaving(true)
    setProblem(undefined)
    try {
      const now = base && (await service.read(base.id))
      if (now !== base?.text) {
        setConflict({ text: now })
        return
      }
      const body = requestBody(text)
      const saved = await (base ? service.replace(base.id, body) : service.create(body))
      const isDone = editor.current?.text() === text
      if (!isDone) settle(itemOf(saved))
      onSaved(saved, isDone)
    } catch (error) {
      if (isGone(error)) setConflict({ text: undefined })
      else {
        setProblem(error)
        const finding = placeInDraft(text, String(Object(error).message))
        setFound(finding && { text, finding })
        onProblem(error)
      }
    } finally {
      setSaving(false)
    }
  }

  /** Goes on as if the person had seen what is stored now. */
  function settle(base: Item | undefined): void {
    setSeen(base)
    setConflict(undefined)
  }

  const leave = () => (isDirty ? setAsksToLeave(true) : onClose())

  function format(): void {
    const text = validText()
    if (text !== undefined) editor.current?.replace(layOut(text))
  }

  return (
    <Dialog
      title={seen ? 'Edit item' : 'New item'}
      class="edit"
      onClose={leave}
      onKeyDown={(event) => {
        const isSave = event.key === 's' || event.key === 'Enter'
        if (!isSave || !(event.ctrlKey || event.metaKey)) return
        event.preventDefault()
        save(seen)
      }}
    >
      {seen && <p class="id">{seen.id}</p>}
      {conflict && seen && (
        <Elsewhere
          conflict={conflict}
          onOverwrite={(text) => {
            settle({ ...seen, text })
            save({ ...seen, text })
          }}
          onTake={(text) => {
            settle({ ...seen, text })
            editor.current?.replace(text)
          }}
          onCreate={() => {
            settle(undefined)
            save(undefined)
          }}
        />
      )}
      {problem !== undefined && (
        <p class="problem" role="alert">
          Not saved. {wordsFor(problem)}{' '}
          {isUncertain(problem) && 'It may have been saved all the same: look at the list first.'}
        </p>
      )}
      <EditorPane
        text={text}
        id={seen?.id}
        editor={editor}
        found={found}
        onChange={(now) => setDirty(isCopy || now !== (seen?.text ?? text))}
      />
      <div class="buttons">
        <button type="button" class="main" disabled={isSaving} onClick={() => save(seen)}>
          {isSaving ? 'Saving…' : 'Save'}
        </button>
        <button type="button" onClick={format}>
          Format
        </button>
        {seen && (
          <>
            <button type="button" onClick={() => onDuplicate(editor.current?.text() ?? text)}>
              Duplicate
            </button>
            <button type="button" class="danger" onClick={() => onDelete(seen)}>
              Delete
            </button>
          </>
        )}
        <button type="button" class="last" onClick={leave}>
          Close
        </button>
      </div>
      {asksToLeave && (
        <Confirm
          title="Discard your changes?"
          action="Discard"
          onYes={onClose}
          onNo={() => setAsksToLeave(false)}
        >
          <p>What you have typed is not saved.</p>
        </Confirm>
      )}
    </Dialog>
  )
}

interface ElsewhereProps {
  readonly conflict: Conflict
  readonly onOverwrite: (text: string) => void
  readonly onTake: (text: string) => void
  readonly onCreate: () => void
}

/** Says what has happened elsewhere, before anything is overwritten. */
function Elsewhere({ conflict: { text }, onOverwrite, onTake, onCreate }: ElsewhereProps) {
  if (text === undefined) {
    return (
      <div class="problem" role="alert">
        <p>This item was deleted elsewhere.</p>
        <button type="button" onClick={onCreate}>
          Save as a new item
        </button>
      </div>
    )
  }
  return (
    <div class="problem" role="alert">
      <p>This item was changed elsewhere. It is now:</p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keys */}
      <pre tabIndex={0}>{layOut(text)}</pre>
      <div class="buttons">
        <button type="button" onClick={() => onOverwrite(text)}>
          Overwrite with mine
        </button>
        <button type="button" onClick={() => onTake(text)}>
          Edit the other version
        </button>
      </div>
    </div>
  )
}

/** The browser asks before the page is left. */
function useWarning(isDirty: boolean): void {
  useEffect(() => {
    if (!isDirty) return undefined
    const warn = (event: BeforeUnloadEvent) => event.preventDefault()
    addEventListener('beforeunload', warn)
    return () => removeEventListener('beforeunload', warn)
  }, [isDirty])
}
