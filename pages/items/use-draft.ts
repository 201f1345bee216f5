/** What is open beside the list: an item that is edited, or a new one. @module */

import { useRef, useState } from 'preact/hooks'
import type { Editing } from './edit.js'
import type { Item } from './item.js'

export interface Draft {
  /** The stored item, as the user has seen it; `undefined` for a new one. */
  readonly item: Item | undefined
  /** What the editor starts with. */
  readonly text: string
  /** Whether that is a copy, which is not stored anywhere: closing would lose it although nothing was typed. */
  readonly isCopy: boolean
  /** Whether the user goes on in the editor, not in the list. */
  readonly hasFocus: boolean
  /** Unique, so that no draft inherits the state of another. */
  readonly key: number
}

export function useDraft() {
  const [draft, setDraft] = useState<Draft>()
  const editing = useRef<Editing>(undefined)
  /** Shows another draft, whatever happens to this one. */
  const show = (text: string, item?: Item, isCopy = false, hasFocus = true) =>
    setDraft({ item, text, isCopy, hasFocus, key: performance.now() })
  /** Asks first if what is open would be lost. */
  const open = (...next: Parameters<typeof show>) => {
    if (editing.current) editing.current.leave(() => show(...next))
    else show(...next)
  }
  return {
    draft,
    editing,
    show,
    open,
    close: () => setDraft(undefined),
    edit(item: Item) {
      if (draft?.item?.id === item.id) editing.current?.focus()
      else open(item.text, item)
    },
    /** Shows another item in place of the one that is open, unless something would be lost. */
    follow(item: Item) {
      if (draft?.item && editing.current?.isSafe) show(item.text, item, false, false)
    },
    /** A late result of another draft, or of one that was discarded, changes nothing. */
    change: ({ key }: Draft, changes: Partial<Draft> | undefined) =>
      setDraft((now) => (now?.key === key ? changes && { ...now, ...changes } : now)),
  }
}
