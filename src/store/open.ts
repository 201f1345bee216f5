/** Opens the store that the settings ask for. @module */

import type { Logger } from 'pino'
import type { ItemStore } from './item-store.js'
import { createMemoryStore } from './memory/store.js'

/** What a store has to be told. */
export interface StoreOptions {
  /** Maximum number of bytes that the items may take in process memory. */
  readonly maxStoreBytes: number
  /** Maximum number of pages that the items may lie on in process memory. */
  readonly maxStorePages: number
  /** Where the engine is that keeps the items; `undefined` for process memory. */
  readonly storeUrl: string | undefined
  /** What the keys in the engine begin with. */
  readonly storePrefix: string
  /** Maximum time to wait for an answer of the engine, in milliseconds. */
  readonly storeTimeout: number
}

/**
 * The store for this process: in process memory (spec §1.2) or in an engine. One that cannot be reached
 * is tried again for as long as the store is open.
 */
export async function openStore(options: StoreOptions, log: Logger): Promise<ItemStore> {
  const { maxStoreBytes, maxStorePages, storeUrl, storePrefix, storeTimeout } = options
  if (storeUrl === undefined) return createMemoryStore(maxStoreBytes, { maxPages: maxStorePages })
  const { openRedisStore } = await import('./redis/store.js')
  return await openRedisStore({ url: storeUrl, prefix: storePrefix, timeout: storeTimeout, log })
}
