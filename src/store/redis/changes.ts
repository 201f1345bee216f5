/** While there are watchers, polls for changes made by other services, and calls the watchers. @module */

import { setTimeout as delay } from 'node:timers/promises'
import type { ItemId } from '../../item/id.js'
import type { Watched } from '../item-store.js'
import type { Watchers } from '../watchers.js'
import type { BucketStates } from './bucket-states.js'

/** Time between two polls for changes, in milliseconds. */
const interval = 250

export function createChanges(
  watchers: Watchers,
  states: Pick<BucketStates, 'all' | 'some'>,
  keyOf: (id: ItemId) => string,
) {
  const closing = new AbortController()
  let isPolling = false

  async function poll(): Promise<void> {
    isPolling = true
    const { signal } = closing
    let known: ReadonlyMap<string, string> = new Map()
    while (!watchers.isEmpty && !signal.aborted) {
      known = await compare(known).catch(() => known) // ignored: reads of items fail too, and report the error
      await delay(interval, undefined, { signal, ref: false }).catch(() => undefined)
    }
    isPolling = false
  }

  /** Calls the watchers of buckets whose versions differ from `known`. Returns the current versions by bucket key. */
  async function compare(known: ReadonlyMap<string, string>): Promise<ReadonlyMap<string, string>> {
    const found = watchers.hasWatchersOfMany
      ? (await states.all()).states
      : await states.some([...new Set([...watchers.watchedIds].map(keyOf))])
    const changed = found.filter(({ key, version }) => known.get(key) !== version)
    if (changed.length > 0) {
      // Watchers added during the poll are called too. In a cluster, their callers may have read an older state.
      const changedKeys = new Set(changed.map(({ key }) => key))
      watchers.call([...watchers.watchedIds].filter((id) => changedKeys.has(keyOf(id))))
    }
    return new Map(found.map(({ key, version }) => [key, version]))
  }

  return {
    watch(watched: Watched, callback: () => void): () => void {
      const unwatch = watchers.add(watched, callback)
      if (!isPolling) void poll()
      return unwatch
    },

    close: () => closing.abort(),
  }
}
