/** The collection and the filtered items as state of a component. @module */

import { useEffect, useMemo, useReducer, useState } from 'preact/hooks'
import { type Collection, createCollection } from './collection.js'
import { createSearch, type Filter, isOpen } from './filter.js'
import type { Item } from './item.js'
import { startPace } from './pace.js'
import { pauseAfter } from './schedule.js'
import { type ItemService, needsToken } from './service.js'

export function useCollection(service: ItemService): Collection {
  const redraw = useRedraw()
  const collection = useMemo(() => {
    let frame = 0
    return createCollection({
      list: (signal) => service.list(signal),
      pauseAfter,
      isFinal: needsToken,
      onChange() {
        cancelAnimationFrame(frame)
        // In a page that is not shown there are no frames, and nothing to draw.
        frame = requestAnimationFrame(redraw)
      },
    })
  }, [service])
  useEffect(() => {
    const watch = () => collection.watch(!document.hidden)
    document.addEventListener('visibilitychange', watch)
    watch()
    return () => {
      document.removeEventListener('visibilitychange', watch)
      collection.stop()
    }
  }, [collection])
  return collection
}

/** The items that a filter lets through, more of them as the list grows; at first those of the filter before. */
export function useMatches(all: readonly Item[], filter: Filter): readonly Item[] {
  const search = useMemo(() => createSearch(all, filter), [all, filter])
  const [matches, setMatches] = useState(all)
  const redraw = useRedraw()
  useEffect(() => {
    if (isOpen(filter)) {
      setMatches(all)
      return undefined
    }
    const show = () => {
      setMatches(search.matches)
      redraw()
    }
    const controller = new AbortController()
    // What an earlier part of the list had is not kept back until all is searched.
    if (search.matches.length > 0) show()
    search.advance(startPace(controller.signal)).then(
      show,
      () => undefined, // there is more to search, or something else to search for
    )
    return () => controller.abort()
  }, [search, all.length])
  return isOpen(filter) ? all : matches
}

function useRedraw(): () => void {
  const [, redraw] = useReducer((count: number) => count + 1, 0)
  return () => redraw(undefined)
}
