/** The collection and the filtered items as state of a component. @module */

import { useEffect, useMemo, useReducer, useState } from 'preact/hooks'
import { type Collection, createCollection } from './collection.js'
import { type Filter, filterItems, isOpen } from './filter.js'
import type { Item } from './item.js'
import { startPace } from './pace.js'
import { pauseAfter } from './schedule.js'
import { type ItemService, needsToken } from './service.js'

export function useCollection(service: ItemService): Collection {
  const [, redraw] = useReducer((count: number) => count + 1, 0)
  const collection = useMemo(() => {
    let frame = 0
    return createCollection({
      list: (signal) => service.list(signal),
      pauseAfter,
      isFinal: needsToken,
      onChange() {
        cancelAnimationFrame(frame)
        // In a page that is not shown there are no frames, and nothing to draw.
        frame = requestAnimationFrame(() => redraw(undefined))
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

/**
 * The items that a filter lets through. Until they are found, those of before are shown.
 * @param loading changes as the list grows.
 */
export function useMatches(
  all: readonly Item[],
  loading: number | undefined,
  filter: Filter,
): readonly Item[] {
  const [matches, setMatches] = useState(all)
  useEffect(() => {
    if (isOpen(filter)) {
      setMatches(all)
      return undefined
    }
    const { signal, abort } = abortable()
    filterItems(all, filter, startPace(signal)).then(
      (items) => signal.aborted || setMatches(items),
      () => undefined, // another one has begun
    )
    return abort
  }, [all, loading, filter])
  return isOpen(filter) ? all : matches
}

function abortable(): { signal: AbortSignal; abort: () => void } {
  const controller = new AbortController()
  return { signal: controller.signal, abort: () => controller.abort() }
}
