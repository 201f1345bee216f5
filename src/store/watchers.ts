/** Who waits for changes of a store. @module */

import type { ItemId } from '../item/item.js'

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

  /** Calls each who waits for one of these items, or for any. @param ids the items that have changed; all by default. */
  call(ids: Iterable<ItemId> = this.ids): void {
    if (this.isEmpty) return
    const callbacks = [...this.#ofAny, ...[...ids].flatMap((id) => [...(this.#byId.get(id) ?? [])])]
    for (const callback of callbacks) callback()
  }
}
