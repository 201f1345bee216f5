/** The items as they were last listed, kept up to date while the page is visible. @module */

import { formatted } from '../shared/numbers.js'
import { type Item, itemOf } from './item.js'
import { type Merged, mergeLists } from './merge.js'
import { createOverview, type Overview, type OverviewMaker } from './overview.js'
import type { list, nextChange } from './service.js'
import { createYield, type Yield } from './yield.js'

/** What is shown. `items` grows in place while the first list is loading. */
export interface Shown {
  readonly items: readonly Item[]
  /** How many items each project had when all items were last listed. */
  readonly projects: Overview['projects']
  readonly overview: Overview
  /** How many items have arrived of the list that is loading; `undefined` while none is. */
  readonly loading: number | undefined
  /** How much of it has arrived, from 0 to 1; `undefined` if its length is not known. */
  readonly share: number | undefined
  readonly listedAt: Date | undefined
  readonly problem: unknown
  /** Ids of the items that the latest list has changed, for the moment in which they are marked. */
  readonly changed: ReadonlySet<string>
  /** Says in words how the latest list differs from the one before. */
  readonly news: string
}

export interface Collection {
  shown(): Shown
  /** Lists only the items of this project from now on; `undefined` for all items. */
  choose(project: string | undefined): void
  refresh(): void
  /** Shows an item that was created or replaced, without waiting for the next list. */
  put(text: string): void
  remove(ids: ReadonlySet<string>): void
  /** Whether the page is visible: if not, nothing is requested. */
  setVisible(isVisible: boolean): void
  stop(): void
}

export interface CollectionOptions {
  readonly list: (...request: Parameters<typeof list>) => AsyncIterable<readonly string[]>
  readonly changed: typeof nextChange
  readonly pauseAfter: typeof pauseAfter
  readonly onChange: () => void
  /** Whether there is no point in listing again after this problem until `refresh` is called. */
  readonly isFinal: (problem: unknown) => boolean
}

/** How long rows that have changed are marked, in milliseconds. */
const marked = 2_000
// In milliseconds.
const shortestPause = 2_000
const longestPause = 300_000
/** For each character of the latest list, so that a list of 25 MB is requested every 20 seconds at most. */
const pausePerCharacter = 0.0008

/**
 * How long to wait at least before the next list, in milliseconds; twice as long with each failure in a row. It depends on
 * the length of the list rather than on its duration, as a short one may take long while the machine is busy.
 * @param characters of the latest list, @param duration of it, in milliseconds.
 * @param failures how many lists in a row have failed.
 */
export function pauseAfter(characters: number, duration: number, failures: number): number {
  const pause = Math.max(shortestPause, duration, characters * pausePerCharacter)
  return Math.min(pause * 2 ** Math.min(failures, 10), longestPause)
}

const nothing: Shown = {
  items: [],
  projects: new Map(),
  overview: createOverview(),
  loading: undefined,
  share: undefined,
  listedAt: undefined,
  problem: undefined,
  changed: new Set(),
  news: '',
}

interface Incoming {
  readonly controller: AbortController
  readonly overview: OverviewMaker
  items: Item[]
  tag: string | null
  /** Ids of items that were changed here meanwhile: the list may have their earlier state. */
  readonly changedHere: Set<string>
}

/** A collection that lists nothing before its first `refresh`. */
export function createCollection(options: CollectionOptions): Collection {
  const { list, changed: nextChange, pauseAfter, onChange, isFinal } = options
  let shown = nothing
  let project: string | undefined
  /** Whether another project was chosen since the latest list. */
  let isOther = false
  let failures = 0
  /** How long the latest list took, in milliseconds. */
  let duration = 0
  let characters = 0
  let incoming: Incoming | undefined
  let tag: string | null = null
  let timer: ReturnType<typeof setTimeout> | undefined
  let unmark: ReturnType<typeof setTimeout> | undefined
  let isVisible = true
  let waiting = new AbortController()
  /** Whether the pause after the latest list is over. */
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
    const known = project === undefined && { projects: overview.projects }
    let loading = 0
    show({ loading, share: undefined })
    let arrived = 0
    let length = 0
    const onHead = (headers: Headers) => {
      into.tag = headers.get('etag')
      if (!headers.has('content-encoding')) length = Number(headers.get('content-length'))
    }
    for await (const texts of list(project, controller.signal, onHead)) {
      for (const text of texts) {
        const item = itemOf(text)
        if (!changedHere.has(item.id)) {
          into.items.push(item)
          overview.add(item)
        }
        loading += 1
        arrived += text.length + 1
        await yieldIfDue()
      }
      const share = length > 0 ? Math.min(1, arrived / length) : undefined
      show({ ...(isGrowing && { items: into.items, overview, ...known }), loading, share })
    }
    const { items, changed, gone } = await merge(into, yieldIfDue)
    const news = changed.size + gone === 0 ? shown.news : newsOf(changed, gone)
    const now = { loading: undefined, listedAt: new Date(), problem: undefined }
    const end = { overview, items, ...known, ...now }
    tag = into.tag
    characters = arrived
    show(isFirst || isOther ? end : { ...end, changed, news })
    isOther = false
    clearTimeout(unmark)
    unmark = setTimeout(() => show({ changed: nothing.changed }), marked)
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
    pause()
    incoming?.controller.abort()
    const controller = new AbortController()
    const into: Incoming = {
      controller,
      overview: createOverview(),
      items: [],
      tag: null,
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
    if (isOver) return
    timer = setTimeout(
      () => {
        isDue = true
        follow()
      },
      pauseAfter(characters, duration, failures),
    )
  }

  /** Ends whatever would list again. */
  function pause(): void {
    clearTimeout(timer)
    waiting.abort()
    isDue = false
  }

  /** Lists again after the next change. While nobody looks, nothing is requested. */
  async function follow(): Promise<void> {
    if (!isVisible || !isDue) return
    waiting.abort()
    waiting = new AbortController()
    const { signal } = waiting
    if (tag !== null && failures === 0) {
      await nextChange(project, tag, signal).catch(() => undefined) // the next list says what is wrong
    }
    if (!signal.aborted) refresh()
  }

  /** @param ids of the items that the update changes. */
  function change(ids: Iterable<string>, update: (items: readonly Item[]) => Item[]): void {
    const isGrowing = shown.items === incoming?.items
    const items = update(shown.items)
    if (incoming) {
      for (const id of ids) incoming.changedHere.add(id)
      incoming.items = isGrowing ? items : update(incoming.items)
    }
    show({ items })
    if (failures > 0 && !incoming) refresh() // the service is back
  }

  return {
    shown: () => shown,
    choose(next) {
      if (next === project) return
      // Of all items, those of the project are known.
      if (project === undefined) show({ news: '' })
      else shown = { ...nothing, projects: shown.projects }
      project = next
      isOther = true
      refresh()
    },
    refresh: () => void refresh(),
    put(text) {
      const item = itemOf(text)
      incoming?.overview.add(item) // the list does without it
      change([item.id], (items) => withItem(items, item))
    },
    remove: (ids) => change(ids, (items) => items.filter(({ id }) => !ids.has(id))),
    setVisible(visible) {
      isVisible = visible
      if (isVisible) follow()
      else waiting.abort()
    },
    stop() {
      incoming?.controller.abort()
      incoming = undefined
      clearTimeout(unmark)
      pause()
    },
  }
}

function withItem(items: readonly Item[], item: Item): Item[] {
  const place = items.findIndex(({ id }) => id === item.id)
  return place < 0 ? [...items, item] : items.with(place, item)
}

function newsOf(changed: ReadonlySet<string>, gone: number): string {
  const parts = [
    changed.size > 0 && `${formatted(changed.size)} new or changed`,
    gone > 0 && `${formatted(gone)} gone`,
  ]
  return parts.filter(Boolean).join(', ')
}
