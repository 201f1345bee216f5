/** The collection and the filtered items as state of a component. @module */

import { useEffect, useMemo, useReducer, useState } from 'preact/hooks'
import { type Collection, createCollection, pauseAfter } from './collection.js'
import { type Filter, matchesAll } from './filter.js'
import type { Item } from './item.js'
import { caughtUp, type Part } from './merge.js'
import type { Search } from './search.js'
import { list, needsToken, nextChange } from './service.js'
import type { Sort } from './sort.js'
import { loadDialogs } from './use-dialogs.js'
import { createYield } from './yield.js'

/** @param project is chosen; `null` for items without one, which are chosen from all. */
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
        // A hidden page has no frames, and nothing to draw.
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
    // Other names have no form in a URL, or may be too long for one.
    collection.choose(project && /^\P{Surrogate}{1,500}$/su.test(project) ? project : undefined)
  }, [collection, project])
  return collection
}

/** The items that match a filter, more of them as the list grows; at first those of the previous filter. */
export function useMatches(all: readonly Item[], filter: Filter): Part {
  /** The search through this list, which goes on when the list has grown. */
  const search = useMemo((): { current?: Search } => ({}), [all, filter])
  const whole = useMemo(() => ({ items: all, all }), [all])
  const [found, setFound] = useState<Part>(whole)
  useEffect(() => {
    if (matchesAll(filter)) {
      setFound(whole)
      return undefined
    }
    const show = () => setFound({ items: search.current?.matches ?? [], all })
    const controller = new AbortController()
    // Matches in an earlier part of the list are not held back until all of it is searched.
    if (search.current?.matches.length) show()
    const advance = async () => {
      const { createSearch } = await loadDialogs()
      search.current ??= createSearch(all, filter)
      await search.current.advance(createYield(controller.signal))
    }
    advance().then(
      show,
      () => undefined, // there is more to search, or something else to search for
    )
    return () => controller.abort()
  }, [search, all.length])
  return matchesAll(filter) ? whole : found
}

/**
 * A part of a list in the order of its members, once it is all there; until it is sorted, in the order before.
 * @param now the list: what was saved or deleted is not seen as it was until a long one is searched and sorted.
 */
export function useSorted(
  part: Part,
  now: readonly Item[],
  sort: Sort,
  isComplete: boolean,
): readonly Item[] {
  const [sorted, setSorted] = useState<Part>()
  const order = isComplete && sort.length > 0 ? sort : undefined
  const { items, all } = part
  useEffect(() => {
    if (!order) {
      setSorted(undefined)
      return undefined
    }
    const controller = new AbortController()
    loadDialogs()
      .then(({ sortItems }) => sortItems(items, order, createYield(controller.signal)))
      .then(
        (items) => setSorted({ items, all }),
        () => undefined, // there is something else to sort
      )
    return () => controller.abort()
  }, [items, items.length, order])
  const shown = (order && sorted) ?? part
  return useMemo(() => caughtUp(shown, now), [shown, now])
}
