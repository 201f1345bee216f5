/** Who waits for changes of a store. @module */

import type { ItemId } from './item-store.js'

type Callback = () => void

export class Watchers {
  readonly #byId = new Map<ItemId, Set<Callback>>()
  readonly #ofAny = new Set<Callback>()

  /** Whose changes somebody waits for. */
  get ids(): Iterable<ItemId> {
    return this.#byId.keys()
  }

  /** Whether somebody waits for a change of any item. */
  get areOfAny(): boolean {
    return this.#ofAny.size > 0
  }

  get isEmpty(): boolean {
    return this.#byId.size === 0 && !this.areOfAny
  }

  /**
   * @param id `undefined` for any item.
   * @returns what ends it.
   */
  add(id: ItemId | undefined, callback: Callback): () => void {
    const callbacks = id === undefined ? this.#ofAny : (this.#byId.get(id) ?? new Set())
    if (id !== undefined) this.#byId.set(id, callbacks)
    callbacks.add(callback)
    return () => {
      callbacks.delete(callback)
      if (id !== undefined && callbacks.size === 0 && this.#byId.get(id) === callbacks) {
        this.#byId.delete(id)
      }
    }
  }

  /** @param id the item that has changed; `undefined` if all may have. */
  call(id: ItemId | undefined): void {
    if (this.isEmpty) return
    const concerned = id === undefined ? [...this.#byId.values()] : [this.#byId.get(id) ?? []]
    for (const callbacks of [this.#ofAny, ...concerned]) {
      for (const callback of [...callbacks]) callback()
    }
  }

  /** Calls those who wait for a change of any item. */
  callAny(): void {
    for (const callback of [...this.#ofAny]) callback()
  }
}
