/** The draft in the panel beside the list: a stored item that is being edited, or a new item. @module */

import { useRef, useState } from 'preact/hooks'
import type { Editing } from './edit.js'
import type { Item } from './item.js'

export interface Draft {
  /** The stored item as the user has seen it; `undefined` for a new item. */
  readonly item: Item | undefined
  readonly text: string
  /** Whether the text is an unsaved copy, which would be lost on closing even if the user has typed nothing. */
  readonly isCopy: boolean
  readonly hasFocus: boolean
  /** Unique component key, so that a draft does not inherit component state from an earlier draft. */
  readonly key: number
}

export function useDraft() {
  const [draft, setDraft] = useState<Draft>()
  const editing = useRef<Editing>(undefined)
  const showDraft = (text: string, item?: Item, isCopy = false, hasFocus = true) =>
    setDraft({ item, text, isCopy, hasFocus, key: performance.now() })
  /** Opens a draft. Asks the user first if unsaved changes to the open draft would be lost. */
  const openDraft = (...next: Parameters<typeof showDraft>) => {
    if (editing.current) editing.current.leave(() => showDraft(...next))
    else showDraft(...next)
  }
  return {
    draft,
    editing,
    showDraft,
    openDraft,
    closeDraft: () => setDraft(undefined),
    edit(item: Item) {
      if (draft?.item?.id === item.id) editing.current?.focus()
      else openDraft(item.text, item, false, !matchMedia('(hover: none)').matches) // on a touch screen, focus would open the keyboard
    },
    /** If the panel shows a different stored item without unsaved changes, shows `item` instead. */
    follow(item: Item) {
      if (draft?.item && editing.current?.isSafe) showDraft(item.text, item, false, false)
    },
    /** Changes a draft, or closes it if `changes` is `undefined`. Does nothing if a different draft is open by now. */
    changeDraft: ({ key }: Draft, changes: Partial<Draft> | undefined) =>
      setDraft((now) => (now?.key === key ? changes && { ...now, ...changes } : now)),
  }
}
