/** Hooks that provide components with the list of items, filtered and sorted. @module */

import { useEffect, useMemo, useReducer, useState } from 'preact/hooks'
import { type Collection, createCollection, pauseAfter } from './collection.js'
import { type Filter, matchesAll } from './filter.js'
import type { Item } from './item.js'
import { caughtUp, type Part } from './merge.js'
import { createSearch, type Search } from './search.js'
import { list, needsToken, nextChange } from './service.js'
import { type Sort, sortItems } from './sort.js'
import { createYield } from './yield.js'

/** @param project project whose items are listed. With `null` or `undefined`, all items are listed. */
export function useCollection(project: Filter['project']): Collection {
  const [, redraw] = useReducer((count: number) => count + 1, 0)
  const collection = useMemo(() => {
    let frame = 0
    return createCollection({
      list,
      changed: nextChange,
      pauseAfter,
      isFinal: needsToken,
      onChange() {
        cancelAnimationFrame(frame)
        // A hidden page is not rendered, because browsers run animation frames only for visible pages.
        frame = requestAnimationFrame(redraw)
      },
    })
  }, [])
  useEffect(() => {
    const update = () => collection.setVisible(!document.hidden)
    document.addEventListener('visibilitychange', update)
    update()
    return () => {
      document.removeEventListener('visibilitychange', update)
      collection.stop()
    }
  }, [collection])
  useEffect(() => {
    // Lists all items if the project's name may be too long for a URL, or cannot be encoded in UTF-8.
    collection.choose(project && /^\P{Surrogate}{1,500}$/su.test(project) ? project : undefined)
  }, [collection, project])
  return collection
}

/** Returns the items that match a filter. Until the first matches are found, returns those of the previous filter. */
export function useMatches(all: readonly Item[], filter: Filter): Part {
  const search = useMemo((): { current?: Search } => ({}), [all, filter])
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

/** Sorts a complete list. While the sort is running, changes in the current list `now` are still shown at once. */
export function useSorted(part: Part, now: readonly Item[], sort: Sort, isComplete: boolean) {
  const [sorted, setSorted] = useState<Part>()
  const order = isComplete && sort.length > 0 ? sort : undefined
  const { items, all } = part
  useEffect(() => {
    if (!order) return setSorted(undefined)
    const controller = new AbortController()
    sortItems(items, order, createYield(controller.signal)).then(
      (items) => setSorted({ items, all }),
      () => undefined, // the sort was aborted, because the items or the sort keys have changed
    )
    return () => controller.abort()
  }, [items, items.length, order])
  const shown = (order && sorted) ?? part
  return useMemo(() => caughtUp(shown, now), [shown, now])
}
