/** The list of items, which is kept up to date while the page is visible. @module */

import { wait } from '../../../src/client/fetch-text.js'
import { type Item, itemOf, projectOf } from '../model/item.js'
import { mergeLists } from '../model/merge.js'
import { createOverview, type Overview } from '../model/overview.js'
import { createYield, type Yield } from '../model/yield.js'
import type { list, nextChange } from '../service/requests.js'

/** The list as shown. While the first one is loading, the array `items` grows in place. */
interface Shown {
  readonly items: readonly Item[]
  /** Number of items in each project, from the latest list of all items. */
  readonly projects: Overview['projects']
  readonly overview: Overview
  readonly loading: number | undefined // items received so far; `undefined` while no list is loading
  readonly share?: number | undefined // fraction received so far; `undefined` if the list's length is unknown
  readonly listedAt: Date | undefined
  readonly problem: unknown
  readonly changed: ReadonlySet<string> // new or changed items whose rows are marked now
}

export type Collection = ReturnType<typeof createCollection>

export interface CollectionOptions {
  readonly list: (...request: Parameters<typeof list>) => AsyncIterable<readonly string[]>
  readonly changed: typeof nextChange
  readonly pauseAfter: typeof pauseAfter
  readonly onChange: () => void
  /** Returns whether an error stops updates until `refresh` is called. */
  readonly isFinal: (problem: unknown) => boolean
}

const marked = 2_000 // ms for which changed rows stay marked
// Shortest and longest pause between two list requests, in ms.
const shortestPause = 2_000
const longestPause = 300_000
const pausePerCharacter = 0.0008 // ms per character of the latest list; 20 seconds after 25 MB

/**
 * Returns the minimum pause between list requests, in milliseconds. It does not depend on the time that a list takes,
 * because even a short one can take long on a busy machine.
 */
export function pauseAfter(characters: number, failures: number): number {
  const pause = Math.max(shortestPause, characters * pausePerCharacter)
  return Math.min(pause * 2 ** Math.min(failures, 10), longestPause)
}

const nothing: Shown = {
  items: [],
  projects: new Map(),
  overview: createOverview(),
  loading: undefined,
  listedAt: undefined,
  problem: undefined,
  changed: new Set(),
}

type Update = (items: readonly Item[]) => readonly Item[]

interface Incoming {
  readonly overview: Overview
  readonly items: Item[]
  tag: string | null
  /** The user's changes since the list was requested, which may not contain them. */
  readonly updates: Update[]
}

export function createCollection(options: CollectionOptions) {
  const { list, changed: nextChange, pauseAfter, onChange, isFinal } = options
  let shown = nothing
  let project: string | undefined
  let isOther = false
  let failures = 0
  let characters = 0
  let incoming: Incoming | undefined
  let tag: string | null = null
  let unmark: ReturnType<typeof setTimeout> | undefined
  let isVisible = true
  let isWanted = false // the list must be requested at once, or when the page is visible
  let dueAt = Number.POSITIVE_INFINITY // in ms of `performance.now()`; a request that nobody wants comes later
  let work = new AbortController()

  function show(part: Partial<Shown>): void {
    shown = { ...shown, ...part }
    onChange()
  }

  async function load(signal: AbortSignal): Promise<void> {
    const overview = createOverview()
    const into: Incoming = { overview, items: [], tag: null, updates: [] }
    incoming = into
    const yieldIfDue = createYield(signal)
    const isFirst = shown.listedAt === undefined
    // If the first list fails midway, its items are shown until a complete one arrives.
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
    for await (const texts of list(project, signal, onHead)) {
      for (const text of texts) {
        const item = itemOf(text)
        into.items.push(item)
        overview.add(item)
        loading += 1
        arrived += text.length + 1
        await yieldIfDue()
      }
      const share = length > 0 ? Math.min(1, arrived / length) : undefined
      show({ ...(isGrowing && { items: updated(into), overview, ...known }), loading, share })
    }
    const { items, changed } = await merge(into, yieldIfDue)
    const now = { loading: undefined, listedAt: new Date(), problem: undefined }
    const end = { overview, items, ...known, ...now }
    tag = into.tag
    characters = arrived
    if (!isFirst && !isOther && changed.size > 0) mark(changed)
    show(end)
    isOther = false
  }

  function mark(changed: ReadonlySet<string>): void {
    show({ changed })
    clearTimeout(unmark)
    unmark = setTimeout(() => show({ changed: nothing.changed }), marked)
  }

  /** Merges the new list into the shown one, and starts over if the user changes an item meanwhile. */
  async function merge(into: Incoming, yieldIfDue: Yield) {
    for (;;) {
      const { items } = shown
      const merged = await mergeLists(items, updated(into), yieldIfDue)
      if (shown.items === items) return merged
    }
  }

  /** Requests the list when it is wanted, and after each change, as long as the page is visible. */
  async function follow(): Promise<void> {
    work.abort()
    work = new AbortController()
    const { signal } = work
    incoming = undefined
    while (isVisible) {
      if (!isWanted) await untilChanged(signal).catch(() => undefined) // the list request reports the error
      if (signal.aborted) return
      isWanted = false
      try {
        await load(signal)
        failures = 0
      } catch (problem) {
        if (signal.aborted) return
        failures += 1
        show({ problem, loading: undefined })
      }
      if (signal.aborted) return
      incoming = undefined
      const isOver = failures > 0 && isFinal(shown.problem)
      const pause = pauseAfter(characters, failures)
      dueAt = isOver ? Number.POSITIVE_INFINITY : performance.now() + pause
    }
  }

  async function untilChanged(signal: AbortSignal): Promise<void> {
    await wait(dueAt - performance.now(), signal)
    if (tag !== null && failures === 0) await nextChange(project, tag, signal)
  }

  function refresh(): void {
    isWanted = true
    follow()
  }

  function change(update: Update): void {
    incoming?.updates.push(update)
    show({ items: update(shown.items) })
    if (failures > 0 && !incoming) refresh() // the change has succeeded, so the service is back
  }

  return {
    shown: () => shown,
    /** Changes the project to list; `undefined` lists all items. */
    choose(next: string | undefined) {
      if (next === project) return
      // The list of all items has the project's items too, so it stays until the project's list arrives.
      if (project !== undefined) shown = { ...nothing, projects: shown.projects }
      project = next
      isOther = true
      refresh()
    },
    refresh,
    put(text: string) {
      const item = itemOf(text)
      incoming?.overview.add(item)
      const isElsewhere = project !== undefined && projectOf(item) !== project
      change((items) => (isElsewhere ? without(items, new Set([item.id])) : withItem(items, item)))
      mark(new Set([item.id])) // shows the user that the item is saved
    },
    remove: (ids: ReadonlySet<string>) => change((items) => without(items, ids)),
    setVisible(visible: boolean) {
      if (visible === isVisible) return
      isVisible = visible
      if (incoming) return // a list that arrives for a hidden page is kept
      if (visible) follow()
      else work.abort()
    },
    stop() {
      work.abort()
      clearTimeout(unmark)
    },
  }
}

/** Returns the items themselves if the user has changed none, because they may be many. */
function updated({ items, updates }: Incoming): readonly Item[] {
  return updates.reduce((now: readonly Item[], update) => update(now), items)
}

function without(items: readonly Item[], ids: ReadonlySet<string>): Item[] {
  return items.filter(({ id }) => !ids.has(id))
}

function withItem(items: readonly Item[], item: Item): Item[] {
  const place = items.findIndex(({ id }) => id === item.id)
  return place < 0 ? [...items, item] : items.with(place, item)
}
