/** The list of items of the chosen project, and its rows: the items that match the filter, in order. @module */

import { useEffect, useMemo, useState } from 'preact/hooks'
import { token } from '../../shared/session.js'
import { createState } from '../../shared/state.js'
import { matchesAll } from '../model/filter.js'
import type { Item } from '../model/item.js'
import { caughtUp, type Part } from '../model/merge.js'
import { createSearch, type Search } from '../model/search.js'
import { sortItems } from '../model/sort.js'
import { createYield } from '../model/yield.js'
import type { ChangedError } from '../service/changes.js'
import { list, needsToken, nextChange } from '../service/requests.js'
import { createCollection, pauseAfter } from './collection.js'
import { isAskingForToken, overlays } from './overlay.js'
import { view } from './view.js'

const drawn = createState({})
let frame = 0

export const collection = createCollection({
  list,
  changed: nextChange,
  pauseAfter,
  isFinal: needsToken,
  onChange() {
    cancelAnimationFrame(frame)
    // Browsers run animation frames, and so render, only for visible pages.
    frame = requestAnimationFrame(() => drawn.set({}))
  },
})

/** Puts the version of an item that a save or delete has found into the list. */
export function putFound({ id, text }: ChangedError): void {
  if (text !== undefined) collection.put(text)
  else collection.remove(new Set([id]))
}

export function useList() {
  drawn.use()
  return collection.shown()
}

/** Returns the members of the items of the chosen project. */
export function useShape() {
  return useList().overview.shapeOf(view.use().project)
}

let triedToken: string | undefined = ''

/** Lets the next change request the list, even with the same token. */
export function tryTokenAgain(): void {
  triedToken = undefined
}

/** Lists the chosen project with the current token, but only while the page is visible. */
function update(): void {
  collection.setVisible(!document.hidden)
  if (isAskingForToken(overlays.get())) return
  const { project } = view.get()
  // Lists all items if the project's name may be too long for a URL, or can't be encoded in UTF-8.
  collection.choose(project && /^\P{Surrogate}{1,500}$/su.test(project) ? project : undefined)
  if (token.get() === triedToken) return
  triedToken = token.get()
  collection.refresh()
}
document.addEventListener('visibilitychange', update)
for (const state of [token, view, overlays]) state.subscribe(update)
update()

/** Returns the items that match the filter, in the chosen order. */
export function useRows(): readonly Item[] {
  const { items, listedAt } = useList()
  const { sort } = view.use()
  const matches = useMatches(items)
  const [sorted, setSorted] = useState<Part>()
  const order = listedAt ? sort : undefined // sorts only a complete list
  useEffect(() => {
    if (!order) return setSorted(undefined)
    const controller = new AbortController()
    sortItems(matches.items, order, createYield(controller.signal)).then(
      (items) => setSorted({ items, all: matches.all }),
      () => undefined, // the sort was aborted, because the items or the order have changed
    )
    return () => controller.abort()
  }, [matches.items, matches.items.length, order])
  const shown = (order && sorted) ?? matches
  // Changes in the list are shown at once, even while the sort is running.
  return useMemo(() => caughtUp(shown, items), [shown, items])
}

/** Returns the items that match the filter; until the first are found, those of the previous filter. */
function useMatches(all: readonly Item[]): Part {
  const filter = view.use()
  const { query, project, conditions } = filter
  const search = useMemo((): { current?: Search } => ({}), [all, query, project, conditions])
  const whole = useMemo(() => ({ items: all, all }), [all])
  const [found, setFound] = useState<Part>(whole)
  useEffect(() => {
    if (matchesAll(filter)) return setFound(whole)
    const show = () => setFound({ items: search.current?.matches ?? [], all })
    const controller = new AbortController()
    if (search.current?.matches.length) show()
    search.current ??= createSearch(all, filter)
    search.current.advance(createYield(controller.signal)).then(
      show,
      () => undefined, // the search was aborted, because the list or the filter has changed
    )
    return () => controller.abort()
  }, [search, all.length])
  return matchesAll(filter) ? whole : found
}
