/** The items as they were last listed, kept up to date while the page is visible. @module */

import { type Item, itemOf } from './item.js'
import { type Merged, mergeLists } from './merge.js'
import { createOverview, type Overview, type OverviewMaker } from './overview.js'
import { createYield, type Yield } from './yield.js'

/** What is shown. `items` grows in place while the first list is loading. */
export interface Shown {
  readonly items: readonly Item[]
  readonly overview: Overview
  /** How many items have arrived of the list that is loading; `undefined` while none is. */
  readonly loading: number | undefined
  /** When the latest list was complete. */
  readonly listedAt: Date | undefined
  /** Why the latest attempt to list failed. */
  readonly problem: unknown
  /** Ids of the items that are new or have changed since the previous list. */
  readonly changed: ReadonlySet<string>
  /** What is different in the latest list, in words. */
  readonly news: string
}

export interface Collection {
  shown(): Shown
  /** Lists now, and regularly from then on. */
  refresh(): void
  /** Shows an item that was created or replaced, without waiting for the next list. */
  put(text: string): void
  /** The same for one that was deleted. */
  remove(id: string): void
  /** Whether the page is visible: if not, nothing is requested. */
  setVisible(isVisible: boolean): void
  /** Ends all requests. */
  stop(): void
}

export interface CollectionOptions {
  /** The texts of all items, in parts as they arrive. */
  readonly list: (signal: AbortSignal) => AsyncIterable<readonly string[]>
  /**
   * How long to wait before the next list, in milliseconds.
   * @param duration of the latest list, in milliseconds.
   * @param failures how many lists in a row have failed.
   */
  readonly pauseAfter: (duration: number, failures: number) => number
  /** Called whenever there is something else to show. */
  readonly onChange: () => void
  /** Whether there is no point in listing again after this problem until `refresh` is called. */
  readonly isFinal: (problem: unknown) => boolean
}

// In milliseconds.
const shortestPause = 2_000
const longestPause = 300_000
/**
 * The pause is so many times as long as the latest list took: listing takes a twentieth of the time, more
 * only for lists that take longer than the longest pause allows for.
 */
const pauseFactor = 19

/** How long to wait before the next list; twice as long with each failure in a row. */
export function pauseAfter(duration: number, failures: number): number {
  const pause = Math.max(shortestPause, duration * pauseFactor) * 2 ** Math.min(failures, 10)
  return Math.min(pause, longestPause)
}

const nothing: Shown = {
  items: [],
  overview: createOverview(),
  loading: undefined,
  listedAt: undefined,
  problem: undefined,
  changed: new Set(),
  news: '',
}

/** A list that is loading. */
interface Incoming {
  readonly controller: AbortController
  readonly overview: OverviewMaker
  items: Item[]
  /** Ids of items that were changed here meanwhile: the list may have their earlier state. */
  readonly changedHere: Set<string>
}

/** A collection that lists nothing before its first `refresh`. */
export function createCollection(options: CollectionOptions): Collection {
  const { list, pauseAfter, onChange, isFinal } = options
  let shown = nothing
  let failures = 0
  /** How long the latest list took, in milliseconds. */
  let duration = 0
  let incoming: Incoming | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  let isVisible = true
  let isDue = false

  function show(part: Partial<Shown>): void {
    shown = { ...shown, ...part }
    onChange()
  }

  async function load(into: Incoming): Promise<void> {
    const { overview, changedHere, controller } = into
    const yieldIfDue = createYield(controller.signal)
    const isFirst = shown.listedAt === undefined
    // What an earlier attempt has loaded stays until there is a complete list.
    const isGrowing = isFirst && shown.items.length === 0
    let loading = 0
    show({ loading })
    for await (const texts of list(controller.signal)) {
      for (const text of texts) {
        const item = itemOf(text)
        if (!changedHere.has(item.id)) {
          into.items.push(item)
          overview.add(item)
        }
        loading += 1
        await yieldIfDue()
      }
      show(isGrowing ? { items: into.items, overview, loading } : { loading })
    }
    const { items, changed, gone } = await merge(into, yieldIfDue)
    const news = changed.size + gone === 0 ? shown.news : newsOf(changed, gone)
    const end = { overview, items, loading: undefined, listedAt: new Date(), problem: undefined }
    show(isFirst ? end : { ...end, changed, news })
  }

  /** Starts over when something is changed here meanwhile. */
  async function merge(into: Incoming, yieldIfDue: Yield): Promise<Merged> {
    for (;;) {
      const { items } = shown
      const merged = await mergeLists(items, into.items, yieldIfDue)
      if (shown.items === items) return merged
    }
  }

  async function refresh(): Promise<void> {
    clearTimeout(timer)
    incoming?.controller.abort()
    const controller = new AbortController()
    const into: Incoming = {
      controller,
      overview: createOverview(),
      items: [],
      changedHere: new Set(),
    }
    incoming = into
    const start = performance.now()
    let isOver = false
    try {
      await load(into)
      failures = 0
      duration = performance.now() - start
    } catch (problem) {
      if (controller.signal.aborted) return
      failures += 1
      isOver = isFinal(problem)
      show({ problem, loading: undefined })
    }
    if (incoming !== into) return
    incoming = undefined
    if (!isOver) schedule()
  }

  function schedule(): void {
    clearTimeout(timer)
    timer = setTimeout(
      () => {
        if (isVisible) refresh()
        else isDue = true
      },
      pauseAfter(duration, failures),
    )
  }

  /** @param item the item that an id has now; `undefined` if it was deleted. */
  function change(id: string, item: Item | undefined): void {
    const isGrowing = shown.items === incoming?.items
    const items = withItem(shown.items, id, item)
    if (incoming) {
      incoming.changedHere.add(id)
      incoming.items = isGrowing ? items : withItem(incoming.items, id, item)
    } else {
      schedule()
    }
    show({ items })
  }

  return {
    shown: () => shown,
    refresh: () => void refresh(),
    put(text) {
      const item = itemOf(text)
      change(item.id, item)
    },
    remove: (id) => change(id, undefined),
    setVisible(visible) {
      isVisible = visible
      if (!isVisible || !isDue) return
      isDue = false
      refresh()
    },
    stop() {
      incoming?.controller.abort()
      incoming = undefined
      clearTimeout(timer)
    },
  }
}

/** The items with the one of an id added, replaced, or removed if `undefined`. */
function withItem(items: readonly Item[], id: string, item: Item | undefined): Item[] {
  if (item === undefined) return items.filter((each) => each.id !== id)
  const place = items.findIndex((each) => each.id === id)
  return place < 0 ? [...items, item] : items.with(place, item)
}

function newsOf(changed: ReadonlySet<string>, gone: number): string {
  const parts = [
    changed.size > 0 ? `${changed.size} new or changed` : '',
    gone > 0 ? `${gone} gone` : '',
  ]
  return parts.filter((part) => part !== '').join(', ')
}
