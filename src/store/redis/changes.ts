/** Calls the watchers of items after each change. Polls the server for changes by other services. @module */

import { setTimeout as delay } from 'node:timers/promises'
import type { ItemId } from '../../item/id.js'
import type { Watched } from '../item-store.js'
import { Watchers } from '../watchers.js'
import type { BucketState } from './bucket-states.js'

/** Time between two polls for changes, in milliseconds. A change is noticed within half a second. */
const interval = 250

interface ChangesOptions {
  /** Returns the key of the bucket of an item. */
  readonly keyOf: (id: ItemId) => string
  /** Reads the states of the buckets with the given keys, or of all buckets. */
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

  /** Calls the callback after each change to the watched items. @returns a function that ends the watch. */
  watch(watched: Watched, callback: () => void): () => void {
    const unwatch = this.#watchers.add(watched, callback)
    if (!this.#isPolling) void this.#poll()
    return unwatch
  }

  /**
   * Calls the watchers of an item that this service has changed.
   * @param project project of the changed item. The next poll calls the watchers of the item's former project.
   */
  callWatchers(id: ItemId, project: string | undefined): void {
    this.#watchers.call([id], [project])
  }

  close(): void {
    this.#closing.abort()
  }

  /** Polls for changes while there are watchers. The load on the server does not grow with the number of watchers. */
  async #poll(): Promise<void> {
    this.#isPolling = true
    const { signal } = this.#closing
    let known: ReadonlyMap<string, string> = new Map()
    while (!this.#watchers.isEmpty && !signal.aborted) {
      try {
        known = await this.#compare(known)
      } catch {
        // Errors are ignored: while polls fail, reads of items fail too, and report the error to their callers.
      }
      await delay(interval, undefined, { signal, ref: false }).catch(() => undefined)
    }
    this.#isPolling = false
  }

  /**
   * Reads the versions of buckets, and calls the watchers of changed buckets. After any change, the watchers of all
   * projects are called, because a bucket has items of several projects. A bucket that is read for the first time
   * counts as changed, because the bucket may have changed since its watcher was added.
   * @param known versions from the last poll, by key.
   * @returns versions from this poll, by key.
   */
  async #compare(known: ReadonlyMap<string, string>): Promise<ReadonlyMap<string, string>> {
    const { keyOf, statesOf } = this.#options
    const { hasWatchersOfMany, watchedIds } = this.#watchers
    const keys = hasWatchersOfMany ? undefined : new Set([...watchedIds].map(keyOf))
    const states = await statesOf(keys)
    const versions = new Map(states.map(({ key, version }) => [key, version]))
    const changed = states.filter(({ key, version }) => known.get(key) !== version)
    if (changed.length > 0) {
      // Watchers added during the poll are called too: in a cluster, their callers may have read an older state.
      const changedKeys = new Set(changed.map(({ key }) => key))
      const ids = [...this.#watchers.watchedIds]
      this.#watchers.call(ids.filter((id) => changedKeys.has(keyOf(id))))
    }
    return versions
  }
}
