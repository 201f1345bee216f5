/** A Redis store in this process. */

import { randomUUID } from 'node:crypto'
import { after } from 'node:test'
import { pino } from 'pino'
import type { ItemStore } from '../../src/store/item-store.js'
import { openRedisStore, type RedisStoreOptions } from '../../src/store/redis/store.js'

export type OwnStoreOptions = Partial<RedisStoreOptions> & Pick<RedisStoreOptions, 'url'>

/** Opens a store; unless told otherwise with a prefix of its own, and no deadline that a busy machine reaches. */
export function openStore(options: OwnStoreOptions): Promise<ItemStore> {
  const log = pino({ level: 'silent' })
  return openRedisStore({ prefix: `${randomUUID()}:`, timeout: 60_000, log, ...options })
}

/** The same; it is closed with the test, or with the test file. Not for a hook, with which it would be closed. */
export async function ownStore(options: OwnStoreOptions): Promise<ItemStore> {
  let store: ItemStore | undefined
  after(() => store?.close()) // before the wait: after it, Node would take this for another test
  store = await openStore(options)
  return store
}
