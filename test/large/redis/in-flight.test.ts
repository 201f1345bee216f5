/** What the Redis store has in flight on a connection: how much, in which order, and for how long. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { newItemId } from '../../../src/item/id.js'
import { describeWithRedis, startedRedis } from '../../support/redis.js'
import { proxyTo, type RedisProxy } from '../../support/redis-proxy.js'
import { ownStore } from '../../support/redis-store.js'
import { itemText, textOf } from '../../support/store-behaviour.js'
import { until } from '../../support/until.js'
import { noChange, unknownOutcome } from './expect.js'

const megabyte = 1_000_000
/** The command, as it is sent; not in the text of a script. */
const hget = '\r\nHGET\r\n'

describeWithRedis('commands in flight', () => {
  /** A store of its own, in one bucket unless told otherwise, and the way to its server. */
  async function opened({ buckets = 1, timeout = 60_000 } = {}) {
    const redis = await startedRedis()
    const proxy = await proxyTo(redis)
    const store = await ownStore({ url: proxy.url, prefix: 'a:', buckets, timeout })
    return { redis, proxy, store }
  }

  /** Makes calls while replies are held back, until some are executed. @returns how many were sent. */
  async function reached<T>(
    proxy: RedisProxy,
    command: string,
    calls: () => Promise<T>[],
    areExecuted: (sent: number) => unknown,
  ): Promise<number> {
    proxy.hold(true)
    const before = proxy.sent(command)
    const results = calls()
    const sent = () => proxy.sent(command) - before
    await until('they are executed', () => areExecuted(sent()))
    await delay(100) // in which commands that must not be sent would arrive
    const count = sent()
    proxy.hold(false)
    await Promise.all(results)
    return count
  }

  test('are few at first, and hundreds once replies are known to be short', async () => {
    const { proxy, store } = await opened()
    const reads = () => Array.from({ length: 1000 }, async () => store.read(newItemId()))
    assert.equal(await reached(proxy, hget, reads, (sent) => sent >= 2), 2)
    for (let time = 0; time < 100; time += 1) await store.read(newItemId())
    const before = proxy.sent('EVALSHA')
    assert.equal(await reached(proxy, hget, reads, (sent) => sent >= 32), 32)
    const count = proxy.sent('EVALSHA') - before
    assert.equal(count, 1000 - 32, 'later reads were asked for in another way')
  })

  test('are bounded, however short they are', async () => {
    const { proxy, store } = await opened()
    const creates = () =>
      Array.from({ length: 3000 }, async () => {
        const id = newItemId()
        await store.create(id, itemText(id, 1))
      })
    await Promise.all(creates()) // the server knows the script then
    assert.equal(await reached(proxy, 'EVALSHA', creates, (sent) => sent >= 1024), 1024)
  })

  test('are not many when replies become long after a time of short ones', async () => {
    const { redis, proxy, store } = await opened()
    const id = newItemId()
    await store.create(id, itemText(id, megabyte))
    const short = () => Array.from({ length: 500 }, async () => store.read(newItemId()))
    for (let time = 0; time < 10; time += 1) await Promise.all(short())
    const peak = async () =>
      Number(/^used_memory_peak:(\d+)/m.exec(await redis.command('info', 'memory'))?.[1])
    const before = await peak()
    const reads = () => Array.from({ length: 200 }, async () => (await store.read(id))?.length)
    assert.equal(await reached(proxy, hget, reads, (sent) => sent >= 32), 32)
    const more = (await peak()) - before
    assert.ok(more < 40 * megabyte, `the server took ${more} bytes more`)
  })

  test('are as few as the longest recent reply lets in', async () => {
    const { proxy, store } = await opened()
    const id = newItemId()
    await store.create(id, itemText(id, 10 * megabyte))
    await store.read(id)
    const reads = () => Array.from({ length: 30 }, async () => store.read(id))
    assert.equal(await reached(proxy, hget, reads, (sent) => sent >= 1), 1)
  })

  test('are sent in order, and one that is longer than all the room goes alone', async () => {
    const { redis, proxy, store } = await opened()
    const known = newItemId()
    await store.create(known, itemText(known, 1)) // the server knows the script then
    const order: number[] = []
    const ids = Array.from({ length: 4 }, newItemId)
    const creates = () =>
      [40, 10, 10, 1].map(async (megabytes, place) => {
        const id = ids[place] ?? newItemId()
        await store.create(id, itemText(id, megabytes * megabyte))
        order.push(place)
      })
    const isThere = async () => (await redis.command('hlen', 'a:{0}')) === '3' // with `bytes`
    assert.equal(await reached(proxy, 'EVALSHA', creates, isThere), 1)
    assert.deepEqual(order, [0, 1, 2, 3])
    assert.equal((await store.size()).items, 5)
  })

  test('are bounded: without room in time it is busy, and what was not sent changes nothing', async () => {
    const timeout = 6000
    const { proxy, store } = await opened({ timeout })
    const known = newItemId()
    await store.create(known, itemText(known, 1)) // the server knows the script then
    const [first, second, third] = [newItemId(), newItemId(), newItemId()]
    proxy.hold(true)
    const created = [first, second].map(async (id) => store.create(id, itemText(id, 40 * megabyte)))
    const refused = assert.rejects(
      async () => store.create(third, itemText(third, 1)),
      /overloaded; nothing has changed/,
    )
    await delay(timeout / 2)
    proxy.hold(false) // the first one's reply
    await created[0]
    proxy.hold(true)
    await refused
    proxy.hold(false)
    await created[1]
    assert.equal(await store.read(third), undefined)
  })

  test('give their room to the next when they fail', async () => {
    const { redis, store } = await opened()
    await redis.command('set', 'a:{0}', 'something else')
    const reads = Array.from({ length: 200 }, async () => store.read(newItemId()))
    for (const read of reads) await assert.rejects(read, /The store rejected the request/)
  })

  test('a proxy answers with an error what the server has executed: the outcome is unknown', async () => {
    const { proxy, store } = await opened()
    const [id, other] = [newItemId(), newItemId()]
    await store.create(other, itemText(other, 1)) // the server knows the script then
    proxy.replaceReplies('-ERR upstream failure\r\n')
    await assert.rejects(async () => store.create(id, itemText(id, 1)), unknownOutcome)
    proxy.replaceReplies('-READONLY You can not write\r\n')
    await assert.rejects(async () => store.delete(id), noChange)
    proxy.replaceReplies(undefined)
    await until('it is connected again', () => store.healthy())
    assert.deepEqual(await store.read(id), itemText(id, 1))
  })

  test('are counted, as are round trips, reconnections and changes of unknown outcome', async () => {
    const { redis, proxy, store } = await opened()
    const traffic = store.traffic
    assert.ok(traffic)
    const known = newItemId()
    await store.create(known, itemText(known, 1)) // the server knows the script then
    const times: number[] = []
    traffic.onRoundTrip = (time) => times.push(time)
    await store.read(known)
    assert.equal(times.length, 1)
    assert.ok(
      times.every((time) => time > 0 && time < 60),
      `${times} seconds`,
    )

    proxy.hold(true)
    const ids = Array.from({ length: 1500 }, newItemId)
    const creates = ids.map(async (id) => store.create(id, itemText(id, 1)))
    const results = Promise.allSettled(creates)
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
    await until('it is connected again', () => traffic.reconnections === 1)
    assert.equal(traffic.redirections, 0)
  })

  test('a list takes one command if nothing has changed, and one more for each bucket that has', async () => {
    const { proxy, store } = await opened({ buckets: 256 })
    // The role of the server is asked for once a second.
    const count = () => proxy.sent('\r\n*') - proxy.sent('replication')
    const taken = async (call: () => unknown) => {
      const before = count()
      await call()
      return count() - before
    }
    await store.list()
    const read = async () => textOf(await store.list())
    assert.equal(await taken(read), 1)
    for (const time of [1, 2]) {
      const id = newItemId()
      await store.create(id, itemText(id, 1))
      assert.equal(await taken(read), 2, `the list after change ${time}`)
      assert.equal(await taken(read), 1)
    }
    assert.equal(await taken(() => store.version()), 1)
  })
})
