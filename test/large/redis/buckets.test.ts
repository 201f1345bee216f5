/** Tests that services with the same Redis store agree on the number of buckets and the data format. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { StoreMismatchError } from '../../../src/store/item-store.js'
import { cli } from '../../support/own-service.js'
import { until } from '../../support/process.js'
import { describeWithRedis, type OwnRedis, ownRedis, startedRedis } from '../../support/redis.js'
import { ownStore } from '../../support/redis-store.js'
import { createItem, describeStore, itemText } from '../../support/store-behaviour.js'
import { noChange } from './expect.js'

const prefix = 'item-store:'
const recordKey = `${prefix}{store}`
const rejected = /^StoreError: The store rejected the request$/
const mismatch =
  /^StoreMismatchError: STORE_BUCKETS is 1024, but this store has 256 buckets; set STORE_BUCKETS to 256,/

describeWithRedis('the number of buckets and the format in the record', () => {
  const open = ({ url }: OwnRedis, buckets?: number, options: { prefix?: string } = {}) =>
    ownStore({ url, prefix, ...(buckets && { buckets }), ...options })

  async function withItem(buckets?: number) {
    const redis = await startedRedis()
    const store = await open(redis, buckets)
    return { redis, store, id: await createItem(store, 1) }
  }

  const recorded = (redis: OwnRedis) => redis.command('hgetall', recordKey)
  const recordOf = (buckets: number) => `buckets\n${buckets}\nformat\n2`

  const large = ownRedis()
  test('the Redis server starts', () => large.start())
  const ofItsOwn = () => open(large, 2048, { prefix: `${randomUUID()}:` })
  describeStore('a store with 2,048 buckets, more than one command reads', ofItsOwn, 5)

  test('the first store records its buckets and format: a store with other buckets cannot be opened', async () => {
    const { redis, store, id } = await withItem()
    assert.equal(await recorded(redis), recordOf(256))
    await assert.rejects(open(redis, 1024), mismatch)
    const other = await open(redis, 256)
    assert.deepEqual(await other.read(id), itemText(id, 1))
    await open(redis, 1024, { prefix: 'other:' })
    assert.equal(await store.healthy(), true)
  })

  test('of three stores opened at the same time with different numbers of buckets, only one opens', async () => {
    for (let time = 0; time < 20; time += 1) {
      const options = { prefix: `${randomUUID()}:` }
      const opened = [256, 512, 1024].map((buckets) => open(large, buckets, options))
      const results = await Promise.allSettled(opened)
      assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1)
    }
  })

  test('a store writes its record again after FLUSHALL, and rejects requests while the record differs', async () => {
    const { redis, store, id } = await withItem(1024)
    await redis.command('flushall')
    await store.create(id, itemText(id, 1))
    await until('the number is recorded', async () => {
      return (await store.healthy()) && (await recorded(redis)) === recordOf(1024)
    })
    assert.deepEqual(await store.read(id), itemText(id, 1))
    await redis.command('hset', recordKey, 'buckets', '256')
    // Without a health check, which would compare the record itself.
    const [read] = await until('reads are rejected', async () => {
      const results = await Promise.allSettled([store.read(id)])
      return results[0].status === 'rejected' && results
    })
    assert.match(String(read.status === 'rejected' && read.reason), rejected)
    assert.equal(await store.healthy(), false)
    await assert.rejects(async () => store.delete(id), noChange)
  })

  test('a store makes no change once another store has written a different record, and until it matches again', async () => {
    const { redis, store } = await withItem(256)
    await redis.command('flushall')
    await open(redis, 512)
    const results = await Promise.allSettled(Array.from({ length: 50 }, () => createItem(store, 1)))
    assert.deepEqual(new Set(results.map(({ status }) => status)), new Set(['rejected']))
    await redis.command('hset', recordKey, 'buckets', '256')
    await createItem(store, 1)
  })

  const mistakes = [
    ['hset buckets 2', 'STORE_BUCKETS is 256, but this store has 2 buckets;'],
    ['hset buckets abc', 'another program has damaged the record of this store;'],
    ['hset format 1', 'this store has data in format 1, but this'],
    ['hset format 3', 'this store has data in format 3, but this'],
    ['set text', 'another program has damaged the record of this store;'],
  ] as const
  for (const [change, cause] of mistakes) {
    test(`a service exits with one line about a record after ${change}`, async () => {
      const own = `${change}:`
      const [command = '', ...values] = change.split(' ')
      if (command !== 'set') await (await open(large, 256, { prefix: own })).close()
      await large.command(command, `${own}{store}`, ...values)
      const { status, stderr } = spawnSync(process.execPath, [cli, 'serve', '--port', '0'], {
        env: { STORE_URL: large.url, STORE_PREFIX: own, JWT_SECRET: 'x' },
        encoding: 'utf8',
        timeout: 60_000,
      })
      assert.equal(status, 2)
      assert.match(stderr, new RegExp(`^item-store: ${cause}.*\n$`))
    })
  }

  test('a store that finds a record with an unknown format and no number writes nothing', async () => {
    const redis = await startedRedis()
    await redis.command('hset', recordKey, 'format', 'other')
    await assert.rejects(open(redis), StoreMismatchError)
    assert.equal(await recorded(redis), 'format\nother')
  })
})
