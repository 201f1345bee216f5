/** The items as they were last listed, kept up to date while the page is looked at. @module */

import { type Item, itemOf } from './item.js'
import { mergeLists } from './merge.js'
import { createOverview, type Overview } from './overview.js'
import { startPace } from './pace.js'

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

/** A collection that lists nothing before its first `refresh`. */
export function createCollection(options: CollectionOptions): Collection {
  const { list, pauseAfter, onChange, isFinal } = options
  let shown = nothing
  let failures = 0
  /** How long the latest list took, in milliseconds. */
  let duration = 0
  let current: AbortController | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  let isVisible = true
  let isDue = false

  function show(part: Partial<Shown>): void {
    shown = { ...shown, ...part }
    onChange()
  }

  async function load(signal: AbortSignal): Promise<void> {
    const pace = startPace(signal)
    const overview = createOverview()
    const items: Item[] = []
    const isFirst = shown.listedAt === undefined
    show({ loading: 0 })
    for await (const texts of list(signal)) {
      for (const text of texts) {
        const item = itemOf(text)
        items.push(item)
        overview.add(item)
        await pace()
      }
      show(isFirst ? { items, overview, loading: items.length } : { loading: items.length })
    }
    const end = { overview, loading: undefined, listedAt: new Date(), problem: undefined }
    if (isFirst) {
      show({ ...end, items })
      return
    }
    const merged = await mergeLists(shown.items, items, pace)
    const isSame = merged.items === shown.items
    show({ ...end, ...merged, news: isSame ? shown.news : newsOf(merged) })
  }

  async function refresh(): Promise<void> {
    clearTimeout(timer)
    current?.abort()
    const controller = new AbortController()
    current = controller
    const start = performance.now()
    try {
      await load(controller.signal)
      failures = 0
      duration = performance.now() - start
    } catch (problem) {
      if (controller.signal.aborted) return
      failures += 1
      show({ problem, loading: undefined })
      if (isFinal(problem)) return
    }
    if (current === controller) schedule()
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

  /** A list that is coming in may be of the moment before: it is left, and asked for again later. */
  function change(items: readonly Item[]): void {
    current?.abort()
    show({ items, loading: undefined })
    schedule()
  }

  return {
    shown: () => shown,
    refresh: () => void refresh(),
    put(text) {
      const item = itemOf(text)
      const place = shown.items.findIndex(({ id }) => id === item.id)
      change(place < 0 ? [...shown.items, item] : shown.items.with(place, item))
    },
    remove(id) {
      change(shown.items.filter((item) => item.id !== id))
    },
    watch(visible) {
      isVisible = visible
      if (!isVisible || !isDue) return
      isDue = false
      refresh()
    },
    stop() {
      current?.abort()
      clearTimeout(timer)
    },
  }
}

function newsOf({ changed, gone }: { changed: ReadonlySet<string>; gone: number }): string {
  const parts = [`${changed.size} new or changed`, gone > 0 ? `${gone} gone` : '']
  return parts.filter((part) => part !== '').join(', ')
}
