/** Tests that services with the same Redis store agree on buckets and data format. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { type ItemStore, StoreMismatchError } from '../../../src/store/item-store.js'
import { cli, ownService } from '../../support/own-service.js'
import { describeWithRedis, type OwnRedis, ownRedis, startedRedis } from '../../support/redis.js'
import { ownStore } from '../../support/redis-store.js'
import { createItem, describeStore, itemText } from '../../support/store-behaviour.js'
import { until } from '../../support/until.js'
import { assertNothingServed, assertUnhealthy, noChange } from './expect.js'

const prefix = 'item-store:'
const recordKey = `${prefix}{store}`
/** Maximum time until an open store checks the recorded settings again, in milliseconds. */
const comparisonTime = 2000
const mismatch = /^STORE_BUCKETS is 1024, but this store has 256 buckets; set STORE_BUCKETS to 256,/

describeWithRedis('the number of buckets in the record', () => {
  const open = ({ url }: { url: string }, buckets: number, options: { prefix?: string } = {}) =>
    ownStore({ url, prefix, buckets, ...options })

  function assertMismatch(opened: Promise<ItemStore>): Promise<void> {
    return assert.rejects(opened, (error) => {
      assert.ok(error instanceof StoreMismatchError)
      assert.match(error.message, mismatch)
      return true
    })
  }

  async function withItem(buckets: number) {
    const redis = await startedRedis()
    const store = await open(redis, buckets)
    return { redis, store, id: await createItem(store, 1) }
  }

  const recorded = (redis: OwnRedis) => redis.command('hget', recordKey, 'buckets')

  const large = ownRedis()
  test('the Redis server starts', () => large.start())
  const ofItsOwn = () => open(large, 2048, { prefix: `${randomUUID()}:` })
  describeStore('a store with 2,048 buckets, more than one command reads', ofItsOwn, 5)

  test('the first store records its number of buckets: a store with another number cannot be opened', async () => {
    const { redis, store, id } = await withItem(256)
    assert.equal(await recorded(redis), '256')
    await assertMismatch(open(redis, 1024))
    const other = await open(redis, 256)
    assert.deepEqual(await other.read(id), itemText(id, 1))
    await open(redis, 1024, { prefix: 'other:' })
    assert.equal(await store.healthy(), true)
  })

  test('a store that has items but no record can only be opened with 256 buckets', async () => {
    const { redis, id } = await withItem(256)
    await redis.command('del', recordKey)
    await assertMismatch(open(redis, 1024))
    assert.equal(await recorded(redis), '')
    const store = await open(redis, 256)
    assert.deepEqual(await store.read(id), itemText(id, 1))
    assert.equal(await recorded(redis), '256')
  })

  test('of three stores opened at the same time with different numbers of buckets, only one opens', async () => {
    for (let time = 0; time < 20; time += 1) {
      const options = { prefix: `${randomUUID()}:` }
      const opened = [256, 512, 1024].map((buckets) => open(large, buckets, options))
      const results = await Promise.allSettled(opened)
      const count = results.filter(({ status }) => status === 'fulfilled').length
      assert.equal(count, 1)
    }
  })

  test('a store writes its record again after FLUSHALL, and rejects requests while the record differs', async () => {
    const { redis, store, id } = await withItem(1024)
    await redis.command('flushall')
    await store.create(id, itemText(id, 1))
    await until('the number is recorded', async () => {
      return (await store.healthy()) && (await recorded(redis)) === '1024'
    })
    assert.deepEqual(await store.read(id), itemText(id, 1))
    await redis.command('hset', recordKey, 'buckets', '256')
    await until('the store is unhealthy', async () => !(await store.healthy()))
    await assert.rejects(async () => store.read(id), /^StoreError: The store rejected the request$/)
    await assert.rejects(async () => store.delete(id), noChange)
    await redis.command('hset', recordKey, 'buckets', '1024')
    await until('the store is healthy again', () => store.healthy())
    assert.equal(await store.delete(id), 'done')
  })

  test('a store in use checks its record every second, even without health checks', async () => {
    const { redis, store } = await withItem(256)
    const created = async (sent = performance.now()) => {
      await createItem(store, 1)
      return sent
    }
    await redis.command('flushall')
    await open(redis, 512)
    const opened = performance.now()
    let last = opened
    await until('nothing more is created', async () => {
      const sent = await created().catch((error) => {
        assert.match(error.message, /^The store rejected the request; /)
      })
      last = sent ?? last
      return sent === undefined
    })
    assert.ok(last < opened + comparisonTime, `created ${last - opened} ms later`)
    await assert.rejects(async () => created(), noChange)
    await redis.command('hset', recordKey, 'buckets', '256')
    await created()
  })

  test('the first changes after a pause fail if the number of buckets in the record differs', async () => {
    const { redis, store } = await withItem(256)
    await redis.command('flushall')
    await open(redis, 512)
    await delay(comparisonTime)
    const results = await Promise.allSettled(Array.from({ length: 50 }, () => createItem(store, 1)))
    assert.deepEqual(new Set(results.map(({ status }) => status)), new Set(['rejected']))
  })

  const mistakes = [
    {
      title: 'another number',
      field: 'buckets',
      cause: 'STORE_BUCKETS is 256, but this store has 2 buckets;',
    },
    {
      title: 'a newer format',
      field: 'format',
      cause: 'this store has data in format 2, but this',
    },
  ]
  for (const { title, field, cause } of mistakes) {
    test(`a service for a store with ${title} exits with one line about it`, async () => {
      const { redis } = await withItem(256)
      await redis.command('hset', recordKey, field, '2')
      const { status, stderr } = spawnSync(process.execPath, [cli, 'serve', '--port', '0'], {
        env: { STORE_URL: redis.url, JWT_SECRET: 'x' },
        encoding: 'utf8',
        timeout: 300_000,
      })
      assert.equal(status, 2)
      assert.match(stderr, new RegExp(`^item-store: ${cause}.*\n$`))
    })
  }

  test('a service that starts before Redis changes nothing if its number of buckets differs', async () => {
    const { redis, store } = await withItem(256)
    await redis.command('save')
    await store.close()
    await redis.kill('SIGKILL')
    const service = await ownService({
      STORE_URL: redis.url,
      STORE_BUCKETS: '1024',
      STORE_TIMEOUT: '20s',
    })
    await assertNothingServed(service, noChange)
    await redis.start()
    await until('the log reports the mismatch', () => {
      void service.request('GET', '/health')
      return service.log.some(({ msg }) => msg === 'the store cannot be used')
    })
    await assertNothingServed(service, noChange)
    await assertUnhealthy(service)
    const lines = service.log.filter(({ msg }) => msg === 'the store cannot be used')
    assert.equal(lines.length, 1)
    assert.match(String(lines[0]?.cause), mismatch)
    assert.equal((await redis.command('keys', '*')).split('\n').length, 2)
  })
})

describeWithRedis('the format in the record', () => {
  test('the first store records the number of buckets and the format of the data', async () => {
    const redis = await startedRedis()
    await ownStore({ url: redis.url, prefix })
    assert.equal(await redis.command('hgetall', recordKey), 'buckets\n256\nformat\n1')
  })

  for (const format of ['2', 'other']) {
    test(`an open store rejects requests once the format is "${format}", and a new store writes nothing`, async () => {
      const redis = await startedRedis()
      const store = await ownStore({ url: redis.url, prefix })
      const id = await createItem(store, 1)
      await redis.command('hset', recordKey, 'format', format)
      await until('reads are rejected', async () => {
        return await Promise.resolve(store.read(id)).then(
          () => false,
          ({ message }) => message === 'The store rejected the request',
        )
      })
      await assert.rejects(async () => store.delete(id), noChange)
      assert.equal(await store.healthy(), false)
      await redis.command('hdel', recordKey, 'buckets')
      const before = await redis.command('hgetall', recordKey)
      await assert.rejects(ownStore({ url: redis.url, prefix }), StoreMismatchError)
      assert.equal(await redis.command('hgetall', recordKey), before)
    })
  }
})
