/** The number of hashes that items are spread over: all services of a store have the same one. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { newItemId } from '../../../src/item/id.js'
import { type ItemStore, StoreMismatchError } from '../../../src/store/item-store.js'
import { cli, ownService } from '../../support/own-service.js'
import { describeWithRedis, type OwnRedis, ownRedis, startedRedis } from '../../support/redis.js'
import { ownStore } from '../../support/redis-store.js'
import { describeStore, itemText } from '../../support/store-behaviour.js'
import { until } from '../../support/until.js'
import { assertNothingServed, assertUnhealthy, noChange } from './expect.js'

const prefix = 'item-store:'
const recordKey = `${prefix}{store}`
const mismatch = /^STORE_BUCKETS is 1024, but this store has 256; set it to that, or use another/

describeWithRedis('the number of buckets', () => {
  const open = ({ url }: { url: string }, buckets: number, options: { prefix?: string } = {}) =>
    ownStore({ url, prefix, buckets, ...options })

  function assertMismatch(opened: Promise<ItemStore>): Promise<void> {
    return assert.rejects(opened, (error) => {
      assert.ok(error instanceof StoreMismatchError)
      assert.match(error.message, mismatch)
      return true
    })
  }

  /** An engine with one item, and the id of that. */
  async function withItem(buckets: number) {
    const redis = await startedRedis()
    const store = await open(redis, buckets)
    const id = newItemId()
    await store.create(id, itemText(id, 1))
    return { redis, store, id }
  }

  async function recorded(redis: OwnRedis): Promise<string> {
    return await redis.command('hget', recordKey, 'buckets')
  }

  const large = ownRedis()
  test('the engine starts', () => large.start())
  const ofItsOwn = () => open(large, 2048, { prefix: `${randomUUID()}:` })
  describeStore('with 2,048 buckets, more than are read at a time', ofItsOwn, 5)

  test('is recorded by the first store; one with another number is not opened', async () => {
    const { redis, store, id } = await withItem(256)
    assert.equal(await recorded(redis), '256')
    await assertMismatch(open(redis, 1024))
    const other = await open(redis, 256)
    assert.deepEqual(await other.read(id), itemText(id, 1))
    await open(redis, 1024, { prefix: 'other:' })
    assert.equal(await store.healthy(), true)
  })

  test('is 256 where items are older than the record', async () => {
    const { redis, id } = await withItem(256)
    await redis.command('del', recordKey)
    await assertMismatch(open(redis, 1024))
    assert.equal(await recorded(redis), '')
    const store = await open(redis, 256)
    assert.deepEqual(await store.read(id), itemText(id, 1))
    assert.equal(await recorded(redis), '256')
  })

  test('is that of one of the stores that are opened at the same time', async () => {
    for (let time = 0; time < 20; time += 1) {
      const options = { prefix: `${randomUUID()}:` }
      const opened = [256, 512, 1024].map((buckets) => open(large, buckets, options))
      const results = await Promise.allSettled(opened)
      const count = results.filter(({ status }) => status === 'fulfilled').length
      assert.equal(count, 1)
    }
  })

  test('is recorded again after everything was deleted, and another one is noticed', async () => {
    const { redis, store, id } = await withItem(1024)
    await redis.command('flushall')
    await store.create(id, itemText(id, 1))
    await until('it is recorded', async () => {
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

  test('need not be recorded while the engine is full, if it is 256', async () => {
    const { redis, id } = await withItem(256)
    await redis.command('del', recordKey)
    await redis.command('config', 'set', 'maxmemory', '1')
    const store = await open(redis, 256)
    assert.deepEqual(await store.read(id), itemText(id, 1))
    assert.equal(await store.delete(id), 'done')
    const other = await open(redis, 1024)
    await assert.rejects(async () => other.read(id), /^StoreError: The store rejected the request$/)
    await redis.command('config', 'set', 'maxmemory', '0')
    assert.equal(await other.read(id), undefined)
    assert.equal(await recorded(redis), '1024')
  })

  test('a service with another number says so in one line, and ends', async () => {
    const { redis } = await withItem(256)
    const { status, stderr } = spawnSync(process.execPath, [cli, 'serve', '--port', '0'], {
      env: { STORE_URL: redis.url, STORE_BUCKETS: '1024', JWT_SECRET: 'x' },
      encoding: 'utf8',
      timeout: 20_000,
    })
    assert.equal(status, 2)
    assert.match(stderr, /^item-store: STORE_BUCKETS is 1024, but this store has 256;.*\n$/)
  })

  test('a service that was there before the engine touches nothing of a store with another number', async () => {
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
    await until('the log says it', () => {
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
