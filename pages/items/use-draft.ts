/** The draft in the panel beside the list: a stored item that is being edited, or a new item. @module */

import { useRef, useState } from 'preact/hooks'
import type { Editing } from './edit.js'
import type { Item } from './item.js'

export interface Draft {
  /** The stored item as the user has seen it; `undefined` for a new item. */
  readonly item: Item | undefined
  readonly text: string
  /** Whether the text is an unsaved copy, which would be lost on closing even if nothing was typed. */
  readonly isCopy: boolean
  readonly hasFocus: boolean
  /** Unique key, so that a draft does not inherit the component state of another draft. */
  readonly key: number
}

export function useDraft() {
  const [draft, setDraft] = useState<Draft>()
  const editing = useRef<Editing>(undefined)
  const showDraft = (text: string, item?: Item, isCopy = false, hasFocus = true) =>
    setDraft({ item, text, isCopy, hasFocus, key: performance.now() })
  /** Opens another draft. Asks first if changes would be lost. */
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
      else openDraft(item.text, item, false, !matchMedia('(hover: none)').matches) // on a touch screen, the focus would open a keyboard over the item
    },
    /** Shows `item` in the panel if the panel has no unsaved changes and shows another stored item. */
    follow(item: Item) {
      if (draft?.item && editing.current?.isSafe) showDraft(item.text, item, false, false)
    },
    /** Changes a draft, or closes its panel. Does nothing if another draft has been opened since. */
    changeDraft: ({ key }: Draft, changes: Partial<Draft> | undefined) =>
      setDraft((now) => (now?.key === key ? changes && { ...now, ...changes } : now)),
  }
}
