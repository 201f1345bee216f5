/** A registry of callbacks for changes to one item, to a project or to all items. @module */

import type { ItemId } from '../item/id.js'
import type { Watched } from './item-store.js'

type Callback = () => void

export class Watchers {
  readonly #byId = new Map<ItemId, Set<Callback>>()
  readonly #byProject = new Map<string | undefined, Set<Callback>>() // under `undefined`, those that watch all items

  get watchedIds(): Iterable<ItemId> {
    return this.#byId.keys()
  }

  get watchedProjects(): string[] {
    return [...this.#byProject.keys()].filter((project) => project !== undefined)
  }

  get hasWatchersOfMany(): boolean {
    return this.#byProject.size > 0
  }

  get isEmpty(): boolean {
    return this.#byId.size === 0 && !this.hasWatchersOfMany
  }

  add(watched: Watched, callback: Callback): () => void {
    if ('id' in watched) return addTo(this.#byId, watched.id, callback)
    return addTo(this.#byProject, watched.project, callback)
  }

  /** Calls the watchers of changed items. @param projects of the items before and after the change. */
  call(
    ids: Iterable<ItemId> = this.watchedIds,
    projects: Iterable<string | undefined> = this.watchedProjects,
  ): void {
    if (this.isEmpty) return
    const callbacks = new Set(this.#byProject.get(undefined))
    for (const id of ids) for (const each of this.#byId.get(id) ?? []) callbacks.add(each)
    for (const project of projects) {
      for (const each of this.#byProject.get(project) ?? []) callbacks.add(each)
    }
    for (const callback of callbacks) callback()
  }
}

function addTo<K>(map: Map<K, Set<Callback>>, key: K, callback: Callback): () => void {
  const callbacks = map.get(key) ?? new Set()
  map.set(key, callbacks)
  callbacks.add(callback)
  return () => {
    callbacks.delete(callback)
    if (callbacks.size === 0 && map.get(key) === callbacks) map.delete(key)
  }
}
