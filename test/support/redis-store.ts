/** Opens Redis stores inside the test process. */

import { randomUUID } from 'node:crypto'
import { after } from 'node:test'
import { pino } from 'pino'
import type { ItemStore } from '../../src/store/item-store.js'
import { openRedisStore, type RedisStoreOptions } from '../../src/store/redis/store.js'

export type OwnStoreOptions = Partial<RedisStoreOptions> & Pick<RedisStoreOptions, 'url'>

/** Opens a store. By default, its prefix is unique, and its timeout suits a busy machine. */
export function openStore(options: OwnStoreOptions): Promise<ItemStore> {
  const log = pino({ level: 'silent' })
  return openRedisStore({ prefix: `${randomUUID()}:`, timeout: 60_000, log, ...options })
}

/** Opens a store that is closed at the end of the test, test file or hook that calls this function. */
export async function ownStore(options: OwnStoreOptions): Promise<ItemStore> {
  let store: ItemStore | undefined
  after(() => store?.close()) // called before any `await`, after which Node.js could assign the hook to another test
  store = await openStore(options)
  return store
}
