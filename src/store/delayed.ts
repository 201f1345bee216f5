/** A slow store, for development: lets clients show their loading states. @module */

import { randomInt } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { ItemStore } from './item-store.js'

/**
 * The same store, with a delay before each operation on items.
 * @param delay the range of a random time in milliseconds, inclusive.
 * @param stopping once aborted, nothing is delayed any more, and pending delays end.
 */
export function delayed(
  store: ItemStore,
  { min, max }: Readonly<Record<'min' | 'max', number>>,
  stopping: AbortSignal,
): ItemStore {
  const pause = () =>
    wait(randomInt(min, max + 1), undefined, { signal: stopping }).catch(() => undefined)
  return {
    ...store,
    async create(id, item) {
      await pause()
      return await store.create(id, item)
    },
    async read(id) {
      await pause()
      return await store.read(id)
    },
    async replace(id, item, expected) {
      await pause()
      return await store.replace(id, item, expected)
    },
    async delete(id, expected) {
      await pause()
      return await store.delete(id, expected)
    },
    async list() {
      await pause()
      return await store.list()
    },
  }
}
