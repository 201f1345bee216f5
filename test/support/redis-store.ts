/** Opens Redis stores in the process of the test. */

import { randomUUID } from 'node:crypto'
import { after } from 'node:test'
import { pino } from 'pino'
import type { ItemStore } from '../../src/store/item-store.js'
import { openRedisStore, type RedisStoreOptions } from '../../src/store/redis/store.js'

export type OwnStoreOptions = Partial<RedisStoreOptions> & Pick<RedisStoreOptions, 'url'>

/**
 * Opens a store. By default, the store has a unique prefix, and a timeout that is long enough even on a busy machine.
 */
export function openStore(options: OwnStoreOptions): Promise<ItemStore> {
  const log = pino({ level: 'silent' })
  return openRedisStore({ prefix: `${randomUUID()}:`, timeout: 60_000, log, ...options })
}

/**
 * Opens a store that is closed after the test or test file. In a hook, do not call this function: the store would be
 * closed after the hook.
 */
export async function ownStore(options: OwnStoreOptions): Promise<ItemStore> {
  let store: ItemStore | undefined
  after(() => store?.close()) // before the `await`: after it, Node.js could assign the hook to another test
  store = await openStore(options)
  return store
}
