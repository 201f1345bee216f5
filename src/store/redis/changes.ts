/** Finds out what other services change, for as long as somebody waits for it. @module */

import { setTimeout as delay } from 'node:timers/promises'
import type { ItemId } from '../item-store.js'
import { Watchers } from '../watchers.js'

/** Time between two looks at the versions, in milliseconds: a change is seen within half a second. */
const interval = 250

export interface ChangesOptions {
  /** The bucket of an item. */
  readonly keyOf: (id: ItemId) => string
  /** The versions of buckets, of all by default. */
  readonly versionsOf: (keys?: ReadonlySet<string>) => Promise<ReadonlyMap<string, string>>
}

export class Changes {
  readonly #options: ChangesOptions
  readonly #watchers = new Watchers()
  readonly #closing = new AbortController()
  #isLooking = false

  constructor(options: ChangesOptions) {
    this.#options = options
  }

  /** @returns what ends it. */
  watch(id: ItemId | undefined, callback: () => void): () => void {
    const unwatch = this.#watchers.add(id, callback)
    if (!this.#isLooking) void this.#look()
    return unwatch
  }

  /** This service has changed an item, or all. */
  made(id?: ItemId): void {
    this.#watchers.call(id && [id])
  }

  close(): void {
    this.#closing.abort()
  }

  /** What it costs the server does not depend on how many wait. */
  async #look(): Promise<void> {
    this.#isLooking = true
    const { signal } = this.#closing
    let known: ReadonlyMap<string, string> = new Map()
    while (!this.#watchers.isEmpty && !signal.aborted) {
      try {
        known = await this.#compare(known)
      } catch {
        // Whoever reads items is told that the store cannot be reached.
      }
      await delay(interval, undefined, { signal, ref: false }).catch(() => undefined)
    }
    this.#isLooking = false
  }

  /** A bucket seen for the first time counts as changed: it may have been since somebody waits. */
  async #compare(known: ReadonlyMap<string, string>): Promise<ReadonlyMap<string, string>> {
    const { keyOf, versionsOf } = this.#options
    const keys = this.#watchers.areOfAny ? undefined : new Set([...this.#watchers.ids].map(keyOf))
    const versions = await versionsOf(keys)
    const changed = new Set(
      [...versions.keys()].filter((key) => known.get(key) !== versions.get(key)),
    )
    // Also those who wait since the look began: in a cluster, they may have read before it did.
    const ids = [...this.#watchers.ids].filter((id) => changed.has(keyOf(id)))
    if (changed.size > 0) this.#watchers.call(ids)
    return versions
  }
}
