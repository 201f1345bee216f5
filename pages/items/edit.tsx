/** Adds or edits an item. What was typed stays until it is saved or discarded. @module */

import { useMemo, useRef, useState } from 'preact/hooks'
import { layOut } from '../shared/json-layout.js'
import { Dialog, type Loss, useConfirmedClose } from './dialog.js'
import { formattedDraft, placeInDraft, whyInvalid, withoutId } from './draft.js'
import { EditorPane, type Found } from './editor-pane.js'
import type { Item } from './item.js'
import type { JsonEditor } from './json-editor.js'
import { lossWhileSaving, notSaved, saveItem } from './save.js'
import { ChangedError, type ItemService, newKey } from './service.js'

export interface EditProps {
  /** The stored item, as the user has seen it; `undefined` for a new one. */
  readonly item: Item | undefined
  /** What the editor starts with, formatted; of a copy, without its id. */
  readonly text: string
  /** Whether closing without saving would lose something although nothing was typed. */
  readonly isCopy: boolean
  /** The item as it is stored now, as far as is known; `undefined` when it is not stored. */
  readonly listed: Item | undefined
  readonly service: ItemService
  /** @param isDone whether nothing was typed meanwhile. */
  readonly onSaved: (text: string, isDone: boolean) => void
  /** Something other than what the user has seen is stored. */
  readonly onFound: (found: ChangedError) => void
  /** The user has seen what is stored now. */
  readonly onSeen: (item: Item | undefined) => void
  readonly onDelete: (item: Item) => void
  readonly onDuplicate: (text: string) => void
  /** A request failed. */
  readonly onProblem: (problem: unknown) => void
  readonly onClose: () => void
}

export function Edit(props: EditProps) {
  const { item, isCopy, listed, service } = props
  const { onSaved, onFound, onSeen, onDelete, onDuplicate, onProblem, onClose } = props
  const editor = useRef<JsonEditor | undefined>(undefined)
  /** What is saved if nothing in it is changed but the layout that the editor has given it. */
  const [source, setSource] = useState(() => (isCopy ? withoutId(props.text) : props.text))
  const shown = useMemo(() => formattedDraft(source), [source])
  const [typed, setTyped] = useState(shown)
  const [problem, setProblem] = useState<unknown>()
  const [found, setFound] = useState<Found>()
  const [isSaving, setSaving] = useState(false)
  const [key] = useState(newKey)
  const toSave = (typed: string) => (typed === shown ? source : typed)
  const isDirty = item ? toSave(typed) !== item.text : isCopy || typed !== shown
  const [close, confirmation] = useConfirmedClose(lossOf(isSaving, isDirty), onClose)

  /** The text, if it is an item; otherwise puts the cursor at the problem. */
  function validText(): string | undefined {
    const text = editor.current?.text() ?? ''
    const error = whyInvalid(text)
    if (!error) return text
    editor.current?.goTo(error.from)
    return undefined
  }

  /** @param base what it replaces; `undefined` to create an item. */
  async function save(base: Item | undefined): Promise<void> {
    if (isSaving) return
    const typed = validText()
    if (typed === undefined) return
    const text = toSave(typed)
    setSaving(true)
    setProblem(undefined)
    try {
      const saved = await saveItem(service, base, text, key)
      onSaved(saved, editor.current?.text() === typed)
    } catch (error) {
      if (error instanceof ChangedError) {
        onFound(error)
        if (!base) onSeen({ id: error.id, text: '' })
      } else {
        setProblem(error)
        const finding = placeInDraft(typed, error instanceof Error ? error.message : '')
        setFound(text === typed && finding ? { text, finding } : undefined)
        onProblem(error)
      }
    } finally {
      setSaving(false)
    }
  }

  /** Continues from what is stored now. */
  function continueFrom(base: Item | undefined): void {
    onSeen(base)
    editor.current?.focus() // the button that was pressed disappears
  }

  function format(): void {
    const text = validText()
    if (text !== undefined) editor.current?.replace(layOut(text))
  }

  return (
    <Dialog
      title={item ? 'Edit item' : 'New item'}
      class="edit"
      onClose={close}
      onKeyDown={(event) => {
        const isSave = event.key === 's' || event.key === 'Enter'
        if (!isSave || !(event.ctrlKey || event.metaKey)) return
        event.preventDefault()
        save(item)
      }}
    >
      {item && <p class="id">{item.id}</p>}
      {problem !== undefined && (
        <p class="problem" role="alert">
          {notSaved(problem)}
        </p>
      )}
      <EditorPane text={shown} id={item?.id} editor={editor} found={found} onChange={setTyped} />
      {/* Below the text: it may appear while one types, and what is being typed stays in its place. */}
      {item && listed?.text !== item.text && !isSaving && (
        <Elsewhere
          isOwn={item.text === ''}
          listed={listed}
          onSave={(listed) => {
            continueFrom(listed)
            save(listed)
          }}
          onAdopt={(listed) => {
            setSource(listed.text)
            editor.current?.replace(formattedDraft(listed.text))
            continueFrom(listed)
          }}
        />
      )}
      <div class="line">
        <button type="button" class="main" aria-disabled={isSaving} onClick={() => save(item)}>
          {isSaving ? 'Saving…' : 'Save'}
        </button>
        <button type="button" onClick={close}>
          Close
        </button>
        <button type="button" onClick={format}>
          Format
        </button>
        {item && (
          <>
            <button type="button" onClick={() => onDuplicate(toSave(typed))}>
              Duplicate
            </button>
            <button type="button" class="danger last" onClick={() => onDelete(item)}>
              Delete
            </button>
          </>
        )}
      </div>
      {confirmation}
    </Dialog>
  )
}

function lossOf(isSaving: boolean, isDirty: boolean): Loss | undefined {
  if (isSaving) return lossWhileSaving
  if (!isDirty) return undefined
  const text = 'What you have typed is not saved.'
  return { title: 'Discard your changes?', text, action: 'Discard' }
}

interface ElsewhereProps {
  /** Whether it was stored from this dialog, by an attempt to save that seemed to fail. */
  readonly isOwn: boolean
  /** What is stored now. */
  readonly listed: Item | undefined
  /** Saves what was typed in its place. */
  readonly onSave: (listed: Item | undefined) => void
  readonly onAdopt: (listed: Item) => void
}

/** Shows what was changed elsewhere before anything is overwritten. */
function Elsewhere({ isOwn, listed, onSave, onAdopt }: ElsewhereProps) {
  return (
    <div class="problem" role="alert">
      <p>
        {!listed && 'This item was deleted elsewhere.'}
        {listed && isOwn && 'What you tried to save before was saved. The item is now:'}
        {listed && !isOwn && 'This item was changed elsewhere. It is now:'}
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keys */}
      {listed && <pre tabIndex={0}>{layOut(listed.text)}</pre>}
      <div class="line">
        <button type="button" onClick={() => onSave(listed)}>
          {listed ? 'Overwrite with mine' : 'Save as a new item'}
        </button>
        {listed && (
          <button type="button" onClick={() => onAdopt(listed)}>
            Edit the other version
          </button>
        )}
      </div>
    </div>
  )
}
