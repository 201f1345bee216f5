/** Tests the Redis store when the server rejects commands or holds other programs' data. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { inspect } from 'node:util'
import { ErrorReply } from '@redis/client'
import { pino } from 'pino'
import { newItemId } from '../../../src/item/id.js'
import type { EncodedItem } from '../../../src/item/item.js'
import { partlyDone, storeError } from '../../../src/store/redis/errors.js'
import { freePort, listen, until } from '../../support/process.js'
import { describeWithRedis, startedRedis } from '../../support/redis.js'
import { ownStore } from '../../support/redis-store.js'
import { createItem, itemText } from '../../support/store-behaviour.js'
import { noChange, unknownOutcome } from './expect.js'

const redis = await startedRedis()
const rejected = /The store rejected the request/

describeWithRedis('refusals of the server', () => {
  const used = ['EVAL', 'EVALSHA', 'HGET', 'HMGET', 'HSET', 'HDEL', 'HLEN', 'HSTRLEN', 'HSCAN']
  for (const command of used) {
    test(`without the right to ${command}, the store is unhealthy, and failed changes change nothing`, async () => {
      await redis.command('flushall')
      await redis.command('script', 'flush')
      const all = await opened(redis.url)
      const [id, other] = [await createItem(all.store), await createItem(all.store)]
      const rights = ['on', '>p', '~*', '+@all', `-${command}`]
      await redis.command('acl', 'setuser', 'u', ...rights)
      const { store } = await opened(redis.url.replace('://', '://u:p@'))
      const newId = newItemId()
      const changes = [
        async () => store.create(newId, itemText(newId, 10)),
        async () => store.replace(id, itemText(id, 5)),
        async () => store.replace(id, itemText(id, 20)),
        async () => store.delete(id),
        async () => store.delete(other),
      ]
      assert.equal(await all.store.healthy(), true)
      assert.equal(await store.healthy(), false)
      const content = async () =>
        (await redis.command('hgetall', 'item-store:{0}')).split('\n').toSorted()
      for (const change of changes) {
        const before = await content()
        await change().catch(async (error) => {
          assert.match(error.message, noChange)
          assert.deepEqual(await content(), before)
        })
      }
    })
  }

  const unexpectedHashes = [
    { title: 'without the field bytes', fields: { a: '1' } },
    { title: 'with letters in the field bytes', fields: { a: '1', bytes: 'abc' } },
    { title: 'with a field that is not an id', fields: { a: 'not json "', bytes: '10 1 1-a' } },
  ]
  for (const { title, fields } of unexpectedHashes) {
    test(`the store is unhealthy while another program has a hash ${title} in place of a bucket`, async () => {
      await redis.command('flushall')
      await redis.command('hset', 'item-store:{store}', 'buckets', '1', 'format', '2')
      await redis.command('hset', 'item-store:{0}', ...Object.entries(fields).flat())
      const before = await redis.command('hgetall', 'item-store:{0}')
      const { store } = await opened(redis.url)
      await assert.rejects(async () => store.list(), rejected)
      assert.equal(await store.healthy(), false)
      const id = newItemId()
      assert.equal(await store.read(id), undefined)
      if (fields.bytes?.match(/^\d+ /)) return
      await assert.rejects(async () => store.create(id, itemText(id, 10)), noChange)
      await assert.rejects(async () => store.size(), rejected)
      assert.equal(await redis.command('hgetall', 'item-store:{0}'), before)
      await redis.command('del', 'item-store:{0}')
      await until('the store is healthy', () => store.healthy())
    })
  }

  test('an item that another program has overwritten is not read, and the store is unhealthy until it is restored', async () => {
    await redis.command('flushall')
    const foreignTexts = ['no item', '', itemText(newItemId(), 10).toString()]
    const checks = foreignTexts.map(async (text, place) => {
      const { store } = await opened(redis.url, `${place}:`)
      const id = await createItem(store)
      const overwrite = (item: string) => redis.command('hset', `${place}:{0}`, id, item)
      await overwrite(text)
      await assert.rejects(async () => store.read(id), rejected)
      await assert.rejects(async () => store.list(), rejected)
      assert.equal(await store.healthy(), false)
      await delay(1100) // the result of a health check is reused for a second
      assert.equal(await store.healthy(), false)
      const item = itemText(id, 10)
      await overwrite(item.toString())
      assert.deepEqual(await store.read(id), item)
      ;(await store.list()).release()
      await until('the store is healthy', () => store.healthy())
    })
    await Promise.all(checks)
  })

  test('a project whose number of items is corrupted is neither listed nor changed, and the store is unhealthy until its repair', async () => {
    await redis.command('flushall')
    const { store } = await opened(redis.url)
    const text = (id: string, project: string) =>
      Buffer.from(`{"id":"${id}","project_id":"${project}"}`) as EncodedItem // has the form of an encoded item
    const [id, other] = [newItemId(), newItemId()]
    await store.create(id, text(id, 'own'))
    const [key, field] = ['item-store:{0}', ':own']
    const count = await redis.command('hget', key, field)
    await redis.command('hset', key, field, 'abc')
    for (const fails of [
      { attempt: async () => store.list('own'), error: rejected },
      { attempt: async () => store.create(other, text(other, 'own')), error: noChange },
      { attempt: async () => store.replace(id, text(id, 'other')), error: noChange },
      { attempt: async () => store.delete(id), error: noChange },
    ]) {
      await assert.rejects(fails.attempt, fails.error)
      assert.equal(await store.healthy(), false)
      await delay(1100) // the result of a health check is reused for a second
      assert.equal(await store.healthy(), false)
    }
    await redis.command('hset', key, field, count)
    await until('the store is healthy', () => store.healthy())
    assert.equal(await store.delete(id), 'done')
  })

  const [bucket, record] = ['item-store:{0}', 'item-store:{store}']
  const lastingFaults: [begin: string, end: string, cause: RegExp][] = [
    ['acl setuser default -evalsha', 'acl setuser default +evalsha', /^NOPERM .* evalsha /],
    ['config set min-replicas-to-write 1', 'config set min-replicas-to-write 0', /^NOREPLICAS /],
    [`set ${bucket} text`, `del ${bucket}`, /^another program has written to item-store:\{0\}$/],
    [`set ${record} text`, `del ${record}`, /^another program has damaged the record /],
    [`hset ${record} buckets 2`, `hset ${record} buckets 1`, /^STORE_BUCKETS is 1, but this store/],
  ]
  for (const [begin, end, cause] of lastingFaults) {
    test(`after ${begin}, the log says once that the store is unhealthy, and after ${end}, that it is healthy`, async () => {
      await redis.command('flushall')
      const { store, log } = await opened(redis.url)
      assert.equal(await store.healthy(), true)
      await redis.command(...begin.split(' '))
      await until('the store is unhealthy', async () => !(await store.healthy()))
      await delay(1100) // the result of a health check is reused for a second
      assert.equal(await store.healthy(), false)
      await redis.command(...end.split(' '))
      await until('the store is healthy', () => store.healthy())
      await until('the log says that the store is healthy', () => log.length > 1)
      const [unhealthy = '', ...others] = log
      assert.equal(JSON.parse(unhealthy).msg, 'the store is unhealthy')
      assert.match(JSON.parse(unhealthy).cause, cause)
      assert.deepEqual(
        others.map((line) => JSON.parse(line).msg),
        ['the store is healthy again'],
      )
    })
  }

  test('the log has a warning if the server could evict items according to its maxmemory-policy', async () => {
    const { log } = await opened(redis.url)
    await redis.command('config', 'set', 'maxmemory-policy', 'allkeys-lru')
    await redis.command('client', 'kill', 'type', 'normal')
    await until('the log has the warning', () => /"policy":"allkeys-lru"/.test(log.join()))
    await redis.command('config', 'set', 'maxmemory-policy', 'noeviction')
  })

  const codes = ['READONLY', 'MISCONF', 'CLUSTERDOWN', 'WRONGTYPE']
  const full = [
    'OOM command not allowed',
    'ERR Error running script (call to f_01): @user_script:9: @user_script: 9: -OOM command',
  ]
  const place = 'script: 0123, on @user_script:9.'
  const unknown = ['ERR upstream failure', 'ERR OOM', 'LOADINGS', '', 'no READONLY']
  const errors = [
    { means: noChange, replies: codes.map((code) => `${code} some words`) },
    { means: noChange, replies: [`ERR The user can not run this ${place}`] },
    { means: /^The store is full$/, replies: full },
    { means: unknownOutcome, replies: [...unknown, `ERR ${partlyDone} ${place}`] },
  ]
  for (const { means, replies } of errors) {
    for (const says of replies) {
      test(`a change that gets the error reply ${JSON.stringify(says)} fails with ${means.source}`, () => {
        assert.match(storeError(new ErrorReply(says), 'change').message, means)
      })
    }
  }

  test('neither the password nor an item is logged if the server quotes an unknown command', async () => {
    const renames = ['AUTH', 'EVALSHA'].flatMap((name) => ['--rename-command', name, ''])
    const unknowing = await startedRedis(...renames)
    const { log } = await opened(unknowing.url.replace('://', '://bob:pass1234@'))
    assert.match(log.join(), /ERR unknown command AUTH"/)
    assert.doesNotMatch(log.join(), /bob|pass1234/)
    const { store } = await opened(unknowing.url)
    const thrown = await createItem(store).catch((error) => error)
    assert.match(inspect(thrown), /ERR unknown command EVALSHA\b/)
    assert.doesNotMatch(inspect(thrown), /item-store:|xxx/)
  })

  const causes = {
    '-ERR no AUTH bob pass1234 here\r\n': 'ERR no AUTH bob *** here',
    "-ERR what is 'pass1234'?\r\n": 'ERR what is',
    'HTTP/1.1 400 Bad\r\n\r\n': 'the program at this address does not speak the Redis protocol',
    '': 'the server closed the connection without a reply',
  }
  for (const [says, cause] of Object.entries(causes)) {
    test(`the log has the cause if a server replies ${JSON.stringify(says)} and closes the connection`, async () => {
      const server = createServer((socket) => {
        socket.once('data', () => socket.end(says)).on('error', () => undefined)
      }).unref()
      const { log } = await opened(`redis://bob:pass1234@127.0.0.1:${await listen(server)}`)
      assert.equal(JSON.parse(log[0] ?? '{}').cause, cause)
    })
  }

  test('the log has the cause if the server accepts no more clients', async () => {
    const port = await freePort()
    await startedRedis('--maxclients', '1', '--port', String(port))
    const client = connect(port)
    client.write('PING\r\n')
    await once(client, 'data')
    const { log } = await opened(`redis://127.0.0.1:${port}`)
    // The server may close a connection before the store can read the error message.
    await until('the log has the cause', () => /max number of clients reached/.test(log.join()))
    client.destroy()
  })
})

async function opened(url: string, prefix = 'item-store:') {
  const lines: string[] = []
  const log = pino({}, { write: (line: string) => void lines.push(line) })
  return { store: await ownStore({ url, prefix, buckets: 1, log }), log: lines }
}
