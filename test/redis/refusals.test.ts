/** What the Redis store makes of an engine that refuses something, and what it logs of it. */

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { ErrorReply } from '@redis/client'
import { pino } from 'pino'
import { newItemId } from '../../src/item/id.js'
import { type ItemStore, StoreError } from '../../src/store/item-store.js'
import { storeError } from '../../src/store/redis/failures.js'
import { partlyDone } from '../../src/store/redis/scripts.js'
import { openRedisStore } from '../../src/store/redis/store.js'
import { describeWithRedis, ownRedis } from '../support/redis.js'
import { itemText } from '../support/store-behaviour.js'
import { noChange, unknownOutcome } from './expect.js'

const redis = ownRedis()
await redis.start()
const stores: ItemStore[] = []

describeWithRedis('refusals of the engine', () => {
  after(async () => {
    for (const store of stores) await store.close()
  })

  const used = ['EVAL', 'EVALSHA', 'HGET', 'HSET', 'HDEL', 'HLEN', 'HSTRLEN', 'HSCAN']
  for (const command of used) {
    test(`the user may not use ${command}: whatever says so has changed nothing`, async () => {
      await redis.command('flushall')
      await redis.command('script', 'flush')
      const all = await opened(redis.url)
      const ids = [newItemId(), newItemId()]
      for (const id of ids) await all.store.create(id, itemText(id, 10))
      const rights = ['on', '>p', '~*', '+@all', `-${command}`]
      await redis.command('acl', 'setuser', 'u', ...rights)
      const { store } = await opened(redis.url.replace('://', '://u:p@'))
      const [id = newItemId(), other = newItemId()] = ids
      const newId = newItemId()
      const changes = [
        () => store.create(newId, itemText(newId, 10)),
        () => store.replace(id, itemText(id, 5)),
        () => store.replace(id, itemText(id, 20)),
        () => store.delete(id),
        () => store.delete(other),
      ]
      for (const change of changes) {
        const before = await redis.command('hgetall', 'item-store:{0}')
        const thrown = await thrownBy(change)
        if (thrown === undefined) continue
        assert.match(thrown.message, noChange)
        assert.equal(await redis.command('hgetall', 'item-store:{0}'), before)
      }
    })
  }

  test('a script that fails after a change, although it may not: the outcome is unknown', () => {
    const error = new ErrorReply(`ERR ${partlyDone} script: 0123, on @user_script:9.`)
    assert.match(storeError(error, 'change').message, unknownOutcome)
  })
})

/** A store in one bucket, and the lines that it logs. */
async function opened(url: string): Promise<{ store: ItemStore; log: string[] }> {
  const log: string[] = []
  const options = { url, prefix: 'item-store:', timeout: 20_000, buckets: 1 }
  const destination = { write: (line: string) => void log.push(line) }
  const store = await openRedisStore({ ...options, log: pino({}, destination) })
  stores.push(store)
  return { store, log }
}

async function thrownBy(call: () => unknown): Promise<StoreError | undefined> {
  try {
    await call()
    return undefined
  } catch (error) {
    if (error instanceof StoreError) return error
    throw error
  }
}
