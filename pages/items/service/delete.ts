/** Deletes items. @module */

import { ItemStoreError } from '../../../src/client/client.js'
import type { Item } from '../model/item.js'
import { ChangedError, deleteItem } from './changes.js'

const atATime = 4 // requests; browsers open few connections per host, and the list needs some too

/**
 * Deletes items until one fails for a reason that concerns all. Returns the ids of items that are gone, and why others
 * are not.
 * @param onTried called with the number of items tried so far.
 */
export async function deleteItems(
  items: readonly Item[],
  signal: AbortSignal,
  onTried: (count: number) => void,
) {
  const deleted = new Set<string>()
  const failed = new Map<Item, unknown>()
  let isOver = false
  const queue = items.values()
  const worker = async () => {
    for (const item of queue) {
      if (isOver || signal.aborted) return
      try {
        await deleteItem(item)
        deleted.add(item.id)
      } catch (error) {
        if (error instanceof ChangedError && error.text === undefined) deleted.add(item.id)
        else failed.set(item, error)
        isOver ||= concernsAll(error)
      }
      onTried(deleted.size + failed.size)
    }
  }
  await Promise.all(Array.from({ length: atATime }, worker))
  return { deleted, failed }
}

function concernsAll(error: unknown): boolean {
  if (error instanceof ChangedError) return false
  return !(error instanceof ItemStoreError) || [undefined, 401, 429, 503].includes(error.status)
}
