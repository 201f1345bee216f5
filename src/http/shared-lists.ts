/** Reads lists from the store, for one response or for all responses that a change causes. @module */

import { ReadMemory } from '../memory/read-memory.js'
import type { ItemList, ItemStore } from '../store/item-store.js'
import { inPortions } from './pacing.js'

type ListStore = Pick<ItemStore, 'list'>

/** Reads a list for one response. @throws {StoreError} */
export async function readList(store: ListStore, project?: string): Promise<ItemList> {
  const list = await store.list(project)
  const isFilteredWhileRead = project !== undefined && list.byteLength === undefined
  return isFilteredWhileRead ? { ...list, chunks: inPortions(list.chunks) } : list
}

/** Copies a list that several responses can send. Returns `undefined` if it's too long. @throws {StoreError} */
export async function readSharedList(
  store: ListStore,
  maxBytes: number,
  project?: string,
): Promise<ItemList | undefined> {
  const list = await readList(store, project)
  const chunks: Uint8Array[] = []
  let byteLength = 0
  try {
    for await (const chunk of list.chunks) {
      byteLength += chunk.length
      if (byteLength > maxBytes) return undefined
      chunks.push(chunk)
    }
    // Copies the chunks before the list is released, because the store may change them from then on.
    const copy = Buffer.concat(chunks)
    const memory = new ReadMemory(byteLength)
    return { version: list.version, byteLength, memory, chunks: [copy], release: () => undefined }
  } finally {
    list.release()
  }
}
