/** Opens the store that the settings ask for. @module */

import type { ItemStore } from './item-store.js'
import { createMemoryStore } from './memory/store.js'

/** What a store has to be told. */
export interface StoreOptions {
  /** Maximum number of bytes that the items may take. */
  readonly maxStoreBytes: number
  /** Maximum number of pages that the items may lie on. */
  readonly maxStorePages: number
}

/** The store for this process: in process memory (spec §1.2). */
export function openStore({ maxStoreBytes, maxStorePages }: StoreOptions): ItemStore {
  return createMemoryStore(maxStoreBytes, { maxPages: maxStorePages })
}
