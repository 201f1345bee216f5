/** Opens the store that the settings ask for. @module */

import type { Logger } from 'pino'
import type { ItemStore } from './item-store.js'
import { createMemoryStore } from './memory/store.js'

/** The limits of the store in process memory, and where another one is. */
export interface StoreOptions {
  /** Maximum total size of the items in process memory, in bytes. */
  readonly maxStoreBytes: number
  /** Maximum number of blocks for items in process memory. */
  readonly maxStoreBlocks: number
  /** Address of the Redis server or cluster that keeps the items; `undefined` for process memory. */
  readonly storeUrl: string | undefined
  /** Prefix of the keys on the server. */
  readonly storePrefix: string
  /** Number of hashes for the items there. */
  readonly storeBuckets: number
  /** How long an operation on the server may take, in milliseconds. */
  readonly storeTimeout: number
}

/**
 * The store for this process: in process memory (spec §1.2) or on a Redis server. One that cannot
 * be reached is retried for as long as the store is open.
 * @throws {StoreMismatchError} if the settings do not fit what is stored there.
 */
export async function openStore(options: StoreOptions, log: Logger): Promise<ItemStore> {
  const { maxStoreBytes, maxStoreBlocks, storeUrl } = options
  if (storeUrl === undefined) return createMemoryStore(maxStoreBytes, { maxBlocks: maxStoreBlocks })
  const { openRedisStore } = await import('./redis/store.js')
  return await openRedisStore({
    url: storeUrl,
    prefix: options.storePrefix,
    buckets: options.storeBuckets,
    timeout: options.storeTimeout,
    log,
  })
}
