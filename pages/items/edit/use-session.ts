/** The session of the panel beside the list, which is told each new version of its item. @module */

import { useLayoutEffect, useMemo, useReducer, useRef } from 'preact/hooks'
import type { Item } from '../item.js'
import type { JsonEditor } from './json-editor.js'
import { draftOf, reduce } from './session.js'

/** @param isComplete whether items that are not listed are not stored. */
export function useSession(
  items: readonly Item[],
  isComplete: boolean,
  setActive: (item: Item) => void,
) {
  const [session, dispatch] = useReducer(reduce, undefined)
  const editor = useRef<JsonEditor>(undefined)
  const key = session?.key
  const id = session?.item?.id
  const listed = useMemo(() => items.find((item) => item.id === id), [items, items.length, id])
  useLayoutEffect(() => {
    if (id !== undefined && (listed || isComplete)) dispatch({ type: 'listed', id, item: listed })
  }, [key, id, listed, isComplete])
  useLayoutEffect(() => {
    if (session?.item) setActive(session.item)
  }, [key])
  return {
    session,
    dispatch,
    editor,
    /** Opens an item in the panel, or moves the focus to the panel if it shows the item. */
    edit(item: Item) {
      // On a touch screen, focus would open the keyboard.
      const hasFocus = !matchMedia('(hover: none)').matches
      if (item.id === id) editor.current?.focus()
      else dispatch({ type: 'go', to: draftOf(item, hasFocus) })
    },
    /** If the panel shows another stored item without unsaved changes, shows `item` instead. */
    follow(item: Item) {
      if (id !== undefined && item.id !== id) dispatch({ type: 'follow', to: draftOf(item, false) })
    },
  }
}
