/** The collection and the filtered items as state of a component. @module */

import { useEffect, useMemo, useReducer, useState } from 'preact/hooks'
import { type Collection, createCollection, pauseAfter } from './collection.js'
import { createSearch, type Filter, matchesAll } from './filter.js'
import type { Item } from './item.js'
import { type ItemService, needsToken } from './service.js'
import { type Sort, sortItems } from './sort.js'
import { createYield } from './yield.js'

export function useCollection(service: ItemService): Collection {
  const redraw = useRedraw()
  const collection = useMemo(() => {
    let frame = 0
    return createCollection({
      list: service.list,
      changed: service.changed,
      pauseAfter,
      isFinal: needsToken,
      onChange() {
        cancelAnimationFrame(frame)
        // A hidden page has no frames, and nothing to draw.
        frame = requestAnimationFrame(redraw)
      },
    })
  }, [service])
  useEffect(() => {
    const update = () => collection.setVisible(!document.hidden)
    document.addEventListener('visibilitychange', update)
    update()
    return () => {
      document.removeEventListener('visibilitychange', update)
      collection.stop()
    }
  }, [collection])
  return collection
}

/** The items that match a filter, more of them as the list grows; at first those of the previous filter. */
export function useMatches(all: readonly Item[], filter: Filter): readonly Item[] {
  const search = useMemo(() => createSearch(all, filter), [all, filter])
  const [matches, setMatches] = useState(all)
  const redraw = useRedraw()
  useEffect(() => {
    if (matchesAll(filter)) {
      setMatches(all)
      return undefined
    }
    const show = () => {
      setMatches(search.matches)
      redraw()
    }
    const controller = new AbortController()
    // Matches in an earlier part of the list are not held back until all of it is searched.
    if (search.matches.length > 0) show()
    search.advance(createYield(controller.signal)).then(
      show,
      () => undefined, // there is more to search, or something else to search for
    )
    return () => controller.abort()
  }, [search, all.length])
  return matchesAll(filter) ? all : matches
}

/** The items in the order of their members, once they are all there; until they are sorted, as they were before. */
export function useSorted(
  items: readonly Item[],
  sort: Sort,
  isComplete: boolean,
): readonly Item[] {
  const [sorted, setSorted] = useState<readonly Item[]>()
  const order = isComplete && sort.length > 0 ? sort : undefined
  useEffect(() => {
    if (!order) {
      setSorted(undefined)
      return undefined
    }
    const controller = new AbortController()
    sortItems(items, order, createYield(controller.signal)).then(
      setSorted,
      () => undefined, // there is something else to sort
    )
    return () => controller.abort()
  }, [items, items.length, order])
  return (order && sorted) ?? items
}

function useRedraw(): () => void {
  const [, redraw] = useReducer((count: number) => count + 1, 0)
  return () => redraw(undefined)
}
