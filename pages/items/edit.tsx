/** The panel for adding or editing an item. Typed text is kept until the user saves or discards it. @module */

import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { Button } from '../shared/components.js'
import { layOut } from '../shared/json-layout.js'
import { ChangedError, newKey } from './changes.js'
import { type Loss, Panel, useConfirmedClose } from './dialog.js'
import { firstValue, formattedDraft, placeInDraft, whyInvalid, withoutId } from './draft.js'
import { EditorPane, type Found } from './editor-pane.js'
import { close as cross, down, Icon, up } from './icons.js'
import { type Item, itemOf } from './item.js'
import type { JsonEditor } from './json-editor.js'
import { isCommand } from './list-keys.js'
import { lossWhileSaving, notSaved, saveItem } from './save.js'
import type { Draft } from './use-draft.js'
import type { Page } from './use-page.js'

export interface Editing {
  readonly isSafe: boolean
  leave(then: () => void): void
  close(): void
  focus(): void
}

const lossOfChanges: Loss = {
  title: 'Discard your changes?',
  text: 'What you have typed is not saved.',
  action: 'Discard',
}

export function Edit(page: Page & { readonly draft: Draft }) {
  const { draft, rows, editing, listed, setActive, closeDraft } = page
  const { item, isCopy } = draft
  const editor = useRef<JsonEditor | undefined>(undefined)
  /** The item's text before the panel indented it. This text is saved if the user changes nothing. */
  const [source, setSource] = useState(() => (isCopy ? withoutId(draft.text) : draft.text))
  const shown = useMemo(() => formattedDraft(source), [source])
  const [typed, setTyped] = useState(shown)
  const [problem, setProblem] = useState<unknown>()
  const [found, setFound] = useState<Found>()
  const [isSaving, setSaving] = useState(false)
  const [key] = useState(newKey)
  const toSave = (typed: string) => (typed === shown ? source : typed)
  const isDirty = item ? toSave(typed) !== item.text : isCopy || typed !== shown
  const loss = isSaving ? lossWhileSaving : isDirty ? lossOfChanges : undefined
  const next = useRef(closeDraft)
  const stay = () => item && setActive(item)
  const [leaveNow, confirmation] = useConfirmedClose(loss, () => next.current(), stay)
  const leave = (then: () => void) => {
    next.current = then
    leaveNow()
  }
  const close = () => leave(closeDraft)
  const move = (step: number) =>
    leave(() => {
      const row = rows[rows.findIndex(({ id }) => id === item?.id) + step]
      if (!row) return
      setActive(row)
      page.showDraft(row.text, row)
    })
  useLayoutEffect(() => {
    const focus = () => editor.current?.focus()
    editing.current = { isSafe: loss === undefined, leave, close, focus }
    return () => {
      editing.current = undefined
    }
  })

  const see = (item: Item | undefined) => page.changeDraft(draft, { item, isCopy: true })

  function validText(): string | undefined {
    const text = editor.current?.text() ?? ''
    const error = whyInvalid(text)
    if (!error) return text
    editor.current?.goTo(error.from)
    return undefined
  }

  /** @param base version of the item that the typed text replaces; `undefined` to create an item. */
  async function save(base: Item | undefined): Promise<void> {
    if (isSaving) return
    const typed = validText()
    if (typed === undefined) return
    const text = toSave(typed)
    setSaving(true)
    setProblem(undefined)
    try {
      const saved = await saveItem(base, text, key)
      page.collection.put(saved)
      setActive(itemOf(saved))
      const isDone = editor.current?.text() === typed
      page.changeDraft(draft, isDone ? undefined : { item: itemOf(saved) })
    } catch (error) {
      if (error instanceof ChangedError) {
        page.onFound(error)
        if (!base) see({ id: error.id, text: '' })
      } else {
        setProblem(error)
        const finding = placeInDraft(typed, error instanceof Error ? error.message : '')
        setFound(text === typed && finding ? { text, finding } : undefined)
        page.onProblem(error)
      }
    } finally {
      setSaving(false)
    }
  }

  function continueFrom(base: Item | undefined): void {
    see(base)
    editor.current?.focus() // the pressed button disappears
  }

  function adopt(listed: Item): void {
    setSource(listed.text)
    editor.current?.replace(formattedDraft(listed.text))
    continueFrom(listed)
  }

  function format(): void {
    const text = validText()
    if (text !== undefined) editor.current?.replace(layOut(text))
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
        const { key, altKey } = event
        const isSave = (key === 's' || key === 'Enter') && isCommand(event)
        const by = { ArrowUp: -1, ArrowDown: 1 }[key]
        if (isSave) save(item)
        else if (altKey && by && item) move(by)
        else return
        event.preventDefault()
      }}
    >
      {item && <p class="id">{item.id}</p>}
      {problem !== undefined && (
        <p class="problem" role="alert">
          {notSaved(problem)}
        </p>
      )}
      <EditorPane
        {...{ editor, found }}
        hasFocus={draft.hasFocus}
        text={shown}
        id={item?.id}
        cursor={item || isCopy ? undefined : firstValue(shown)}
        onChange={setTyped}
      />
      {/* This notice is below the editor, so that text does not move when the notice appears during typing. */}
      {item && listed?.text !== item.text && !isSaving && (
        <div class="problem" role="alert">
          <p>{newsOf(item, listed)}</p>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: without it, the keyboard cannot scroll */}
          {listed && <pre tabIndex={0}>{layOut(listed.text)}</pre>}
          <div class="line">
            <Button
              onClick={() => {
                continueFrom(listed)
                save(listed)
              }}
            >
              {listed ? 'Overwrite with mine' : 'Save as a new item'}
            </Button>
            {listed && <Button onClick={() => adopt(listed)}>Edit the other version</Button>}
          </div>
        </div>
      )}
      <div class="line foot">
        {item && (
          <>
            <Button class="quiet danger" onClick={() => page.setToDelete([item])}>
              Delete
            </Button>
            <Button class="quiet" onClick={() => page.showDraft(toSave(typed), undefined, true)}>
              Duplicate
            </Button>
          </>
        )}
        <Button class="quiet" onClick={format}>
          Format
        </Button>
        <Button class="last" onClick={close}>
          Cancel
        </Button>
        <Button class="main" aria-disabled={isSaving} onClick={() => save(item)}>
          {isSaving ? 'Saving…' : 'Save'}
        </Button>
      </div>
      {confirmation}
    </Panel>
  )
}

/** @param item version that the user has seen; its text is empty if creating the item seemed to fail. */
function newsOf(item: Item, listed: Item | undefined): string {
  if (!listed) return 'This item was deleted elsewhere.'
  if (item.text === '') return 'Your earlier attempt to save succeeded. The item is now:'
  return 'This item was changed elsewhere. It is now:'
}
