/** Polls for the changes of other services while anybody watches. @module */

import { setTimeout as delay } from 'node:timers/promises'
import type { ItemId } from '../../item/id.js'
import type { Watched } from '../item-store.js'
import { Watchers } from '../watchers.js'
import type { BucketState } from './bucket-states.js'

/** Time between two polls, in milliseconds: a change is seen within half a second. */
const interval = 250

interface ChangesOptions {
  /** Returns the key of an item's bucket. */
  readonly keyOf: (id: ItemId) => string
  /** Reads the states of buckets, by default of all. */
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

  /** The projects for whose changes somebody waits. */
  get projects(): Iterable<string> {
    return this.#watchers.projects
  }

  /** @returns a function that ends it. */
  watch(watched: Watched, callback: () => void): () => void {
    const unwatch = this.#watchers.add(watched, callback)
    if (!this.#isPolling) void this.#poll()
    return unwatch
  }

  /**
   * Records a change that this service has made.
   * @param project of the item now. The next poll calls the watchers of the project that the item has left.
   */
  made(id: ItemId, project: string | undefined): void {
    this.#watchers.call([id], [project])
  }

  close(): void {
    this.#closing.abort()
  }

  /** Polls until nobody watches. The cost for the server does not depend on the number of watchers. */
  async #poll(): Promise<void> {
    this.#isPolling = true
    const { signal } = this.#closing
    let known: ReadonlyMap<string, string> = new Map()
    while (!this.#watchers.isEmpty && !signal.aborted) {
      try {
        known = await this.#compare(known)
      } catch {
        // Reads of items fail, and tell their callers.
      }
      await delay(interval, undefined, { signal, ref: false }).catch(() => undefined)
    }
    this.#isPolling = false
  }

  /**
   * Calls the watchers of all projects after any change, because a bucket has items of several projects. A bucket that
   * is seen for the first time counts as changed: it may have changed since the watcher came.
   * @param known versions by key.
   */
  async #compare(known: ReadonlyMap<string, string>): Promise<ReadonlyMap<string, string>> {
    const { keyOf, statesOf } = this.#options
    const keys = this.#watchers.areOfAny ? undefined : new Set([...this.#watchers.ids].map(keyOf))
    const states = await statesOf(keys)
    const versions = new Map(states.map(({ key, version }) => [key, version]))
    const changed = states.filter(({ key, version }) => known.get(key) !== version)
    if (changed.length > 0) {
      // Watchers that came during the poll are called too: in a cluster, their own read may be older than the poll.
      const changedKeys = new Set(changed.map(({ key }) => key))
      this.#watchers.call([...this.#watchers.ids].filter((id) => changedKeys.has(keyOf(id))))
    }
    return versions
  }
}
