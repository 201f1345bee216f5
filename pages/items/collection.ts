/** The items as they were last listed, kept up to date while the page is looked at. @module */

import { type Item, itemOf } from './item.js'
import { type Merged, mergeLists } from './merge.js'
import { createOverview, type Overview, type OverviewMaker } from './overview.js'
import { type Pace, startPace } from './pace.js'

/** What there is to show. `items` grows in place while the first list comes in. */
export interface Shown {
  readonly items: readonly Item[]
  readonly overview: Overview
  /** How many items of a list that is coming in have arrived; `undefined` while none is. */
  readonly loading: number | undefined
  /** When the latest list was complete. */
  readonly listedAt: Date | undefined
  /** Why the latest attempt to list failed. */
  readonly problem: unknown
  /** Ids of the items that are new or have changed since the list before. */
  readonly changed: ReadonlySet<string>
  /** What the latest list brought, in words. */
  readonly news: string
}

export interface Collection {
  shown(): Shown
  /** Lists now, and again and again from then on. */
  refresh(): void
  /** Shows an item that was created or replaced, without waiting for the next list. */
  put(text: string): void
  /** The same for one that was deleted. */
  remove(id: string): void
  /** Whether the page is looked at: if not, nothing is asked for. */
  watch(isVisible: boolean): void
  /** Nothing is asked for any more. */
  stop(): void
}

export interface CollectionOptions {
  /** The texts of all items, in parts as they come in. */
  readonly list: (signal: AbortSignal) => AsyncIterable<readonly string[]>
  /**
   * How long to wait before the next list, in milliseconds.
   * @param duration of the latest list, in milliseconds.
   * @param failures how many lists in a row have failed.
   */
  readonly pauseAfter: (duration: number, failures: number) => number
  /** Called whenever there is something else to show. */
  readonly onChange: () => void
  /** Whether it is no use to list again after this problem, until somebody asks for it. */
  readonly isFinal: (problem: unknown) => boolean
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

/** A list that is coming in. */
interface Incoming {
  readonly controller: AbortController
  readonly overview: OverviewMaker
  items: Item[]
  /** Ids of what was changed here meanwhile: of these, the list may have what was there before. */
  readonly ours: Set<string>
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
    const { overview, ours, controller } = into
    const pace = startPace(controller.signal)
    const isFirst = shown.listedAt === undefined
    // What an attempt before this one has brought stays until there is a whole list.
    const isGrowing = isFirst && shown.items.length === 0
    let loading = 0
    show({ loading })
    for await (const texts of list(controller.signal)) {
      for (const text of texts) {
        const item = itemOf(text)
        if (!ours.has(item.id)) {
          into.items.push(item)
          overview.add(item)
        }
        loading += 1
        await pace()
      }
      show(isGrowing ? { items: into.items, overview, loading } : { loading })
    }
    const { items, changed, gone } = await merge(into, pace)
    const news = changed.size + gone === 0 ? shown.news : newsOf(changed, gone)
    const end = { overview, items, loading: undefined, listedAt: new Date(), problem: undefined }
    show(isFirst ? end : { ...end, changed, news })
  }

  /** Begins again when something is changed here meanwhile. */
  async function merge(into: Incoming, pace: Pace): Promise<Merged> {
    for (;;) {
      const { items } = shown
      const merged = await mergeLists(items, into.items, pace)
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
      ours: new Set(),
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

  /** @param item what there is now under an id, if there is anything. */
  function change(id: string, item: Item | undefined): void {
    const isGrowing = shown.items === incoming?.items
    const items = withItem(shown.items, id, item)
    if (incoming) {
      incoming.ours.add(id)
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
    watch(visible) {
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

/** The items with another one under an id, or without it. */
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
