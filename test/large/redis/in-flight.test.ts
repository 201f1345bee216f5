/** Tests how many commands the Redis store sends before the server replies. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { newItemId } from '../../../src/item/id.js'
import { until } from '../../support/process.js'
import { describeWithRedis, startedRedis } from '../../support/redis.js'
import { proxyTo, type RedisProxy } from '../../support/redis-proxy.js'
import { ownStore } from '../../support/redis-store.js'
import { createItem, itemText, textOf } from '../../support/store-behaviour.js'

const megabyte = 1_000_000
const hget = '\r\nHGET\r\n' // in the store's commands, but not in scripts that call HGET

describeWithRedis('commands in flight', () => {
  async function opened({ buckets = 1, timeout = 60_000 } = {}) {
    const redis = await startedRedis()
    const proxy = await proxyTo(redis)
    const store = await ownStore({ url: proxy.url, prefix: 'a:', buckets, timeout })
    return { redis, proxy, store }
  }

  /** Makes calls while replies are held back, and checks the number of commands in flight. */
  async function assertInFlight<T>(
    most: number,
    proxy: RedisProxy,
    command: string,
    calls: () => Promise<T>[],
  ): Promise<void> {
    proxy.hold(true)
    const before = proxy.sent(command)
    const results = calls()
    const sent = () => proxy.sent(command) - before
    await until('the commands are sent', () => sent() >= most)
    await delay(100) // time for commands that exceed the limit by mistake to arrive
    assert.equal(sent(), most)
    proxy.hold(false)
    await Promise.all(results)
  }

  test('at most 2 HGET are in flight at first, and 32 after short replies; other reads use a script', async () => {
    const { proxy, store } = await opened()
    const reads = () => Array.from({ length: 1000 }, async () => store.read(newItemId()))
    await assertInFlight(2, proxy, hget, reads)
    for (let time = 0; time < 100; time += 1) await store.read(newItemId())
    const before = proxy.sent('EVALSHA')
    await assertInFlight(32, proxy, hget, reads)
    const count = proxy.sent('EVALSHA') - before
    assert.equal(count, 1000 - 32, 'other reads did not use the script')
  })

  test('only one read is in flight after a reply of 10 MB', async () => {
    const { proxy, store } = await opened()
    const id = await createItem(store, 10 * megabyte)
    await store.read(id)
    const reads = () => Array.from({ length: 30 }, async () => store.read(id))
    await assertInFlight(1, proxy, hget, reads)
  })

  test('a short command does not overtake a command that waits for room', async () => {
    const { store } = await opened()
    await createItem(store, 1) // loads the script into the server
    const order: number[] = []
    const creates = [20, 20, 1].map(async (megabytes, place) => {
      await createItem(store, megabytes * megabyte)
      order.push(place)
    })
    await Promise.all(creates)
    assert.deepEqual(order, [0, 1, 2])
  })

  test('a create that gets no room in time fails as overloaded, and changes nothing', async () => {
    const timeout = 15_000
    const { proxy, store } = await opened({ timeout })
    await createItem(store, 1)
    proxy.hold(true)
    const created = [createItem(store, 40 * megabyte), createItem(store, 40 * megabyte)]
    const id = newItemId()
    const create = async () => store.create(id, itemText(id, 1))
    const refused = assert.rejects(create, /overloaded; nothing has changed/)
    await delay(timeout / 2)
    proxy.hold(false) // passes on the reply to the first create
    await created[0]
    proxy.hold(true)
    await refused
    proxy.hold(false)
    await created[1]
    assert.equal(await store.read(id), undefined)
  })

  test('a long reply may take longer than the timeout while its bytes arrive, and no other request fails', async () => {
    const { proxy, store } = await opened({ timeout: 3000 })
    const id = await createItem(store, 15 * megabyte)
    proxy.slow(32 * 1024, 10) // the reply takes at least 4.6 s
    const creates = Array.from({ length: 28 }, () => createItem(store, 1))
    const [item] = await Promise.all([store.read(id), ...creates])
    assert.ok(item?.equals(itemText(id, 15 * megabyte)))
  })

  test('a reply of which too few bytes arrive within the timeout ends the connection', async () => {
    const { proxy, store } = await opened({ timeout: 1000 })
    const id = await createItem(store, 10_000)
    proxy.slow(1, 100)
    await assert.rejects(async () => store.read(id), /did not respond in time/)
  })

  test('failed commands make room for the next commands', async () => {
    const { redis, store } = await opened()
    await redis.command('set', 'a:{0}', 'something else')
    const reads = Array.from({ length: 200 }, async () => store.read(newItemId()))
    for (const read of reads) await assert.rejects(read, /The store rejected the request/)
  })

  test('the traffic statistics count commands, round trips, reconnections and unknown outcomes', async () => {
    const { redis, proxy, store } = await opened({ timeout: 5000 })
    const traffic = store.traffic
    assert.ok(traffic)
    await createItem(store, 1)
    const times: number[] = []
    traffic.onRoundTrip = (seconds) => times.push(seconds)
    const start = performance.now()
    await store.read(newItemId())
    const longest = (performance.now() - start) / 1000
    const [time = 0, ...others] = times
    assert.ok(time > 0 && time <= longest, `${time} seconds`)
    assert.deepEqual(others, [])

    proxy.hold(true)
    const results = Promise.allSettled(Array.from({ length: 1500 }, () => createItem(store, 1)))
    assert.deepEqual([traffic.inFlight, traffic.waiting], [1024, 476])
    await redis.kill('SIGKILL')
    const messages = (await results).map((one) => one.status === 'rejected' && one.reason.message)
    const sent =
      'The connection to the store was lost; it is unknown whether the change took effect'
    const unsent = 'The store cannot be reached; nothing has changed'
    assert.deepEqual(messages, [...Array(1024).fill(sent), ...Array(476).fill(unsent)])
    assert.deepEqual([traffic.inFlight, traffic.waiting], [0, 0])
    assert.deepEqual([traffic.unknownOutcomes, traffic.reconnections], [1024, 0])
    await redis.start()
    proxy.hold(false)
    await until('the store is connected again', () => traffic.reconnections === 1)
    assert.equal(traffic.redirections, 0)
  })

  test('a list takes one command, and one more at the same time for each bucket that the service has changed', async () => {
    const { proxy, store } = await opened({ buckets: 256 })
    // Counts commands, except those that are sent once a second, to check the server's role, the record and the numbers.
    const perSecond = ['replication', '{store}', '\r\n#\r\n']
    const count = () => perSecond.reduce((sum, text) => sum - proxy.sent(text), proxy.sent('\r\n*'))
    const taken = async (call: () => unknown) => {
      const before = count()
      await call()
      return count() - before
    }
    await store.list()
    const read = async () => textOf(await store.list())
    assert.equal(await taken(read), 1)
    for (const time of [1, 2]) {
      await createItem(store, 1)
      proxy.hold(true)
      const before = count()
      const list = read()
      await until(`both commands after change ${time} are sent`, () => count() - before === 2)
      proxy.hold(false)
      await list
      assert.equal(await taken(read), 1)
    }
    assert.equal(await taken(() => store.version()), 1)
  })
})
