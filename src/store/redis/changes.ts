/** Calls the watchers of items after each change, and polls for changes by other services. @module */

import { setTimeout as delay } from 'node:timers/promises'
import type { ItemId } from '../../item/id.js'
import type { Watched } from '../item-store.js'
import { Watchers } from '../watchers.js'
import type { BucketState } from './bucket-states.js'

/** Time between two polls for changes, in milliseconds. */
const interval = 250

interface ChangesOptions {
  readonly keyOf: (id: ItemId) => string
  readonly statesOf: (keys?: ReadonlySet<string>) => Promise<readonly BucketState[]>
}

export class Changes {
  readonly #options: ChangesOptions
  readonly #watchers = new Watchers()
  readonly #closing = new AbortController()
  #isPolling = false

  constructor(options: ChangesOptions) {
    this.#options = options
  }

  get watchedProjects(): Iterable<string> {
    return this.#watchers.watchedProjects
  }

  watch(watched: Watched, callback: () => void): () => void {
    const unwatch = this.#watchers.add(watched, callback)
    if (!this.#isPolling) void this.#poll()
    return unwatch
  }

  /** @param project project of the changed item. The next poll covers its former project. */
  callWatchers(id: ItemId, project: string | undefined): void {
    this.#watchers.call([id], [project])
  }

  close(): void {
    this.#closing.abort()
  }

  async #poll(): Promise<void> {
    this.#isPolling = true
    const { signal } = this.#closing
    let known: ReadonlyMap<string, string> = new Map()
    while (!this.#watchers.isEmpty && !signal.aborted) {
      try {
        known = await this.#compare(known)
      } catch {
        // Errors are ignored, because reads of items fail too and report the error.
      }
      await delay(interval, undefined, { signal, ref: false }).catch(() => undefined)
    }
    this.#isPolling = false
  }

  /**
   * Calls the watchers of changed buckets. A bucket that is read for the first time counts as changed.
   * @param known versions by key from the last poll. @returns versions by key from this poll.
   */
  async #compare(known: ReadonlyMap<string, string>): Promise<ReadonlyMap<string, string>> {
    const { keyOf, statesOf } = this.#options
    const { hasWatchersOfMany, watchedIds } = this.#watchers
    const keys = hasWatchersOfMany ? undefined : new Set([...watchedIds].map(keyOf))
    const states = await statesOf(keys)
    const versions = new Map(states.map(({ key, version }) => [key, version]))
    const changed = states.filter(({ key, version }) => known.get(key) !== version)
    if (changed.length > 0) {
      // Includes watchers added during the poll, because in a cluster their callers may have read an older state.
      const changedKeys = new Set(changed.map(({ key }) => key))
      const ids = [...this.#watchers.watchedIds]
      this.#watchers.call(ids.filter((id) => changedKeys.has(keyOf(id))))
    }
    return versions
  }
}
