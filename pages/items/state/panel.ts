/** The sessions in which the user edits an item: that of the panel, which any feature may open, and that of a cell. @module */

import { useLayoutEffect } from 'preact/hooks'
import { createState } from '../../shared/state.js'
import { type Item, projectOf } from '../model/item.js'
import { mostUsed } from '../model/overview.js'
import { cursor, moveOn, moveTo } from './cursor.js'
import { collection, useList } from './list.js'
import { failure } from './overlay.js'
import {
  draftOf,
  draftWithId,
  isUnseen,
  type Move,
  newDraft,
  reduce,
  type Session,
  type SessionEvent,
} from './session.js'
import { placeIn, view } from './view.js'

export type Editing = ReturnType<typeof createEditing>

export function createEditing(first: Move) {
  const { get, set, use, subscribe } = createState<Session | undefined>(undefined)
  /** Also makes the edited item's row the active one and, after a save, that of the saved item. */
  function dispatch(event: SessionEvent): void {
    const before = get()
    const now = reduce(before, event)
    set(now)
    const isOther = now?.key !== before?.key || event.type === 'stay'
    const item = !now && event.type === 'saved' ? event.item : now?.item
    if (isOther && item) moveTo({ id: item.id })
  }
  dispatch({ type: 'open', to: first })
  return { get, use, subscribe, dispatch }
}

const { item } = placeIn()
export const panel = createEditing(item === undefined ? 'close' : draftWithId(item))

/** Returns the session, and passes each new version of its item on to it. */
export function useSession({ use, dispatch }: Editing): Session | undefined {
  const { items, listedAt } = useList()
  const session = use()
  const id = session?.item?.id
  useLayoutEffect(() => {
    if (!session || id === undefined) return
    const item = items.find((each) => each.id === id)
    const isMissing = isUnseen(session) && !item && listedAt !== undefined
    if (isMissing) failure.set(`The item ${id} of this address is not listed.`)
    // A project's list does not tell which other items are stored.
    if (item || isMissing || (listedAt && !view.get().project))
      dispatch({ type: 'listed', id, item })
  }, [session?.key, id, items, items.length, listedAt])
  return session
}

/** Opens an item in the panel, or focuses the panel if it shows the item. */
export function edit(item: Item): void {
  panel.dispatch({ type: 'go', to: draftOf(item) })
}

/** Makes an item's row the active one. An open panel without unsaved changes then shows the item. */
export function activate(item: Item, column = cursor.get().column): void {
  moveTo({ id: item.id, column })
  panel.dispatch({ type: 'follow', to: draftOf(item) })
}

/** Opens a new item with the project and the members that are common where the user is. */
export function addNew(): void {
  const { items, overview, projects } = collection.shown()
  const { project } = view.get()
  const active = items.find(({ id }) => id === cursor.get().id)
  const inList = active ? projectOf(active) : mostUsed(projects, 1)[0]
  const own = project === undefined ? inList : project
  const members = own ? [`"project_id": ${JSON.stringify(own)}`] : []
  const blanks = overview.shapeOf(own).blanks()
  panel.dispatch({ type: 'go', to: newDraft(`{${[...members, ...blanks].join()}}`) })
}

/** Takes deleted items out of the list, the panel and the cursor. @param rows from before. */
export function forget(ids: ReadonlySet<string>, rows: readonly Item[]): void {
  panel.dispatch({ type: 'deleted', ids })
  collection.remove(ids)
  moveOn(ids, rows)
}
