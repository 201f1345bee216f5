/** Opens Redis stores inside the test process. */

import { randomUUID } from 'node:crypto'
import { after } from 'node:test'
import { pino } from 'pino'
import type { ItemStore } from '../../src/store/item-store.js'
import { openRedisStore, type RedisStoreOptions } from '../../src/store/redis/store.js'

export type OwnStoreOptions = Partial<RedisStoreOptions> & Pick<RedisStoreOptions, 'url'>

/**
 * Opens a store, and closes it at the end of the test or hook. By default, its prefix is unique, it has 256
 * buckets, and its timeout suits a busy machine.
 */
export async function ownStore(options: OwnStoreOptions): Promise<ItemStore> {
  let store: ItemStore | undefined
  after(() => store?.close()) // called before any `await`, after which Node.js could assign the hook to another test
  const log = pino({ level: 'silent' })
  const defaults = { prefix: `${randomUUID()}:`, buckets: 256, timeout: 60_000, log }
  store = await openRedisStore({ ...defaults, ...options })
  return store
}
