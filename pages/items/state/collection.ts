/** The list of items, which is kept up to date while the page is visible. @module */

import { type Item, itemOf, projectOf } from '../model/item.js'
import { mergeLists } from '../model/merge.js'
import { createOverview, type Overview } from '../model/overview.js'
import { createYield, type Yield } from '../model/yield.js'
import type { list, nextChange } from '../service/requests.js'

/** The list as shown. While the first one is loading, the array `items` grows in place. */
export interface Shown {
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
 * Returns the minimum pause between list requests, in milliseconds. The pause depends mainly on the length of the list,
 * because even a short list can take long on a busy machine. @param duration time that the list took, in milliseconds.
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
  listedAt: undefined,
  problem: undefined,
  changed: new Set(),
}

interface Incoming {
  readonly controller: AbortController
  readonly overview: Overview
  items: Item[]
  tag: string | null
  /** Items that the user has changed since the list was requested, which may have old versions. */
  readonly changedHere: Set<string>
}

export function createCollection(options: CollectionOptions) {
  const { list, changed: nextChange, pauseAfter, onChange, isFinal } = options
  let shown = nothing
  let project: string | undefined
  let isOther = false
  let failures = 0
  let duration = 0
  let characters = 0
  let incoming: Incoming | undefined
  let tag: string | null = null
  let timer: ReturnType<typeof setTimeout> | undefined
  let unmark: ReturnType<typeof setTimeout> | undefined
  let isVisible = true
  let waiting = new AbortController()
  let isDue = false
  let isWanted = false // the list must be requested once the page is visible

  function show(part: Partial<Shown>): void {
    shown = { ...shown, ...part }
    onChange()
  }

  async function load(into: Incoming): Promise<void> {
    const { overview, changedHere, controller } = into
    const yieldIfDue = createYield(controller.signal)
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
      const merged = await mergeLists(items, into.items, yieldIfDue)
      if (shown.items === items) return merged
    }
  }

  async function refresh(): Promise<void> {
    pause()
    incoming?.controller.abort()
    incoming = undefined
    isWanted = !isVisible
    if (isWanted) return
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

  function pause(): void {
    clearTimeout(timer)
    waiting.abort()
    isDue = false
  }

  async function follow(): Promise<void> {
    if (!isVisible || !isDue) return
    waiting.abort()
    waiting = new AbortController()
    const { signal } = waiting
    if (tag !== null && failures === 0) {
      await nextChange(project, tag, signal).catch(() => undefined) // the next list request reports the error
    }
    if (!signal.aborted) refresh()
  }

  function change(ids: Iterable<string>, update: (items: readonly Item[]) => Item[]): void {
    const isGrowing = shown.items === incoming?.items
    const items = update(shown.items)
    if (incoming) {
      for (const id of ids) incoming.changedHere.add(id)
      incoming.items = isGrowing ? items : update(incoming.items)
    }
    show({ items })
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
    refresh: () => void refresh(),
    put(text: string) {
      const item = itemOf(text)
      incoming?.overview.add(item) // `load` skips items that the user has changed
      const isElsewhere = project !== undefined && projectOf(item) !== project
      change([item.id], (items) =>
        isElsewhere ? without(items, new Set([item.id])) : withItem(items, item),
      )
      mark(new Set([item.id])) // shows the user that the item is saved
    },
    remove: (ids: ReadonlySet<string>) => change(ids, (items) => without(items, ids)),
    setVisible(visible: boolean) {
      if (visible === isVisible) return
      isVisible = visible
      if (isVisible && isWanted) refresh()
      else if (isVisible) follow()
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

function without(items: readonly Item[], ids: ReadonlySet<string>): Item[] {
  return items.filter(({ id }) => !ids.has(id))
}

function withItem(items: readonly Item[], item: Item): Item[] {
  const place = items.findIndex(({ id }) => id === item.id)
  return place < 0 ? [...items, item] : items.with(place, item)
}
