/** The session of the panel beside the list, which is told each new version of its item. @module */

import { useEffect, useLayoutEffect, useMemo, useReducer, useRef, useState } from 'preact/hooks'
import type { Item } from '../model/item.js'
import { moveTo } from '../state/cursor.js'
import { collection, useList } from '../state/list.js'
import { failure } from '../state/overlay.js'
import { placeIn, useAddress, view } from '../state/view.js'
import type { JsonEditor } from './json-editor.js'
import { draftOf, reduce } from './session.js'

export function useSession() {
  const { items, listedAt } = useList()
  const { project } = view.use()
  const [session, dispatch] = useReducer(reduce, undefined)
  /** Id in the address, to be opened once the item is listed. */
  const [wanted, setWanted] = useState(() => placeIn(location.hash).item)
  const editor = useRef<JsonEditor>(undefined)
  const key = session?.key
  const id = session?.item?.id
  const listed = useMemo(() => items.find((item) => item.id === id), [items, items.length, id])
  // A project's list does not tell which other items are stored.
  const isKnown = listed !== undefined || (listedAt !== undefined && !project)
  useLayoutEffect(() => {
    if (id !== undefined && isKnown) dispatch({ type: 'listed', id, item: listed })
  }, [key, id, listed, isKnown])
  useLayoutEffect(() => {
    if (session?.item) moveTo({ item: session.item })
  }, [key])

  /** Opens an item in the panel, or focuses the panel if it shows the item. */
  function edit(item: Item): void {
    // On a touch screen, focus would open the keyboard.
    const hasFocus = !matchMedia('(hover: none)').matches
    if (item.id === id) editor.current?.focus()
    else dispatch({ type: 'go', to: draftOf(item, hasFocus) })
  }

  useEffect(() => {
    const { items, listedAt } = collection.shown() // another project may just have been chosen
    const item = items.find(({ id }) => id === wanted)
    if (item) edit(item)
    else if (wanted && listedAt) failure.set(`The item ${wanted} of this address is not listed.`)
    if (item || listedAt) setWanted(undefined)
  }, [wanted, items, items.length, listedAt])
  useAddress(id ?? wanted, !wanted && !session?.pending, (id) => {
    setWanted(id)
    if (id === undefined && session?.item) dispatch({ type: 'go', to: 'close' })
  })
  return {
    session,
    dispatch,
    editor,
    edit,
    /** Shows `item` instead of another stored item without unsaved changes. */
    follow(item: Item) {
      if (id !== undefined && item.id !== id) dispatch({ type: 'follow', to: draftOf(item, false) })
    },
  }
}
