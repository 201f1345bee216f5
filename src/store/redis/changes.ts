/** Polls for the changes of other services while anybody watches. @module */

import { setTimeout as delay } from 'node:timers/promises'
import type { ItemId } from '../../item/id.js'
import type { Watched } from '../item-store.js'
import { Watchers } from '../watchers.js'

/** Time between two polls, in milliseconds: a change is seen within half a second. */
const interval = 250

interface ChangesOptions {
  /** Returns the key of an item's bucket. */
  readonly keyOf: (id: ItemId) => string
  /** Reads the versions of buckets, by default of all. */
  readonly versionsOf: (keys?: ReadonlySet<string>) => Promise<ReadonlyMap<string, string>>
  /** Reads the versions of projects. */
  readonly versionsOfProjects: (projects: readonly string[]) => Promise<ReadonlyMap<string, string>>
}

export class Changes {
  readonly #options: ChangesOptions
  readonly #watchers = new Watchers()
  readonly #closing = new AbortController()
  #isPolling = false
  /** The versions of projects that their watchers know. A project without one counts as changed. */
  #ofProjects = new Map<string, string>()
  /** Projects that have changed, or were read with another version, since the present poll began. */
  readonly #newer = new Set<string>()

  constructor(options: ChangesOptions) {
    this.#options = options
  }

  /** @returns a function that ends it. */
  watch(watched: Watched, callback: () => void): () => void {
    const unwatch = this.#watchers.add(watched, callback)
    if (!this.#isPolling) void this.#poll()
    return unwatch
  }

  /**
   * Records a change that this service has made.
   * @param project of the item now. A poll finds the project that the item has left.
   */
  made(id: ItemId, project: string | undefined): void {
    if (project !== undefined) this.#forget(project)
    this.#watchers.call([id], [project])
  }

  /** Records the version of a project that was read. A poll misses it if the project changes back before. */
  saw(project: string, version: string): void {
    if (this.#ofProjects.get(project) !== version) this.#forget(project)
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

  /** A bucket that is seen for the first time counts as changed: it may have changed since the watcher came. */
  async #compare(known: ReadonlyMap<string, string>): Promise<ReadonlyMap<string, string>> {
    const { keyOf, versionsOf } = this.#options
    this.#newer.clear()
    const keys = this.#watchers.areOfAny ? undefined : new Set([...this.#watchers.ids].map(keyOf))
    const versions = await versionsOf(keys)
    const changed = new Set(
      [...versions.keys()].filter((key) => known.get(key) !== versions.get(key)),
    )
    // Watchers that came during the poll are called too: in a cluster, their own read may be older than the poll.
    const ids = [...this.#watchers.ids].filter((id) => changed.has(keyOf(id)))
    if (changed.size > 0) {
      this.#watchers.call(ids, [])
      const projects = await this.#changedProjects()
      if (projects.length > 0) this.#watchers.call([], projects)
    }
    return versions
  }

  #forget(project: string): void {
    if (!this.#isPolling) return
    this.#ofProjects.delete(project)
    this.#newer.add(project)
  }

  async #changedProjects(): Promise<string[]> {
    const watched = [...this.#watchers.projects]
    if (watched.length === 0) return []
    const versions = await this.#options.versionsOfProjects(watched)
    const known = this.#ofProjects
    this.#ofProjects = new Map()
    return watched.filter((project) => {
      const version = versions.get(project) ?? ''
      if (!this.#newer.has(project)) this.#ofProjects.set(project, version)
      return known.get(project) !== version
    })
  }
}
