/** Tests the Redis store when the server rejects commands or holds other programs' data. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { inspect } from 'node:util'
import { ErrorReply } from '@redis/client'
import { pino } from 'pino'
import { newItemId } from '../../../src/item/id.js'
import type { EncodedItem } from '../../../src/item/item.js'
import { changeError, partlyDone, storeError } from '../../../src/store/redis/errors.js'
import { freePort, listen, until } from '../../support/process.js'
import { describeWithRedis, startedRedis } from '../../support/redis.js'
import { ownStore } from '../../support/redis-store.js'
import { createItem, textOf } from '../../support/store-behaviour.js'
import { noChange, unknownOutcome } from './expect.js'

const redis = await startedRedis()
const rejected = /The store rejected the request/

describeWithRedis('refusals of the server', () => {
  const rights = {
    ...{ eval: '', evalsha: 'create replace delete', hget: 'read create', hmget: 'replace' },
    ...{ hset: 'create replace delete', hdel: 'delete', hlen: '', hstrlen: '', hscan: 'list' },
  }
  const ofRights = Object.entries(rights).map(
    ([name, failing]) => [`acl setuser USER -${name}`, failing, /^NOPERM |can't run/] as const,
  )
  const all = 'read list project create replace delete'
  const written = /^another program has written to \d+:\{0\}$/
  /** Commands that begin a fault, operations that then fail, and the cause in the log. */
  const faults: (readonly [begin: string, failing: string, cause: RegExp])[] = [
    ...ofRights,
    ['del BUCKET, set BUCKET text', all, written],
    ['hdel BUCKET bytes', 'list create replace delete', written],
    ['hset BUCKET bytes abc', 'list project create replace delete', written],
    ['hset BUCKET name text', 'list project', written],
    ['hset BUCKET ID text', 'read list project', written],
    ['hset BUCKET ID {"id":"00000000-0000-4000-8000-000000000000"}', 'read list project', written],
    ['hset BUCKET :own abc', 'project create replace delete', written],
    [
      'del RECORD, set RECORD text',
      'create replace delete',
      /^another program has damaged the rec/,
    ],
    ['hset RECORD buckets 2', 'create replace delete', /^STORE_BUCKETS is 1, but this store/],
    ['config set min-replicas-to-write 1', 'create replace delete', /^NOREPLICAS /],
  ]

  async function assertRefusals(number: number): Promise<void> {
    const [begin, failing, cause] = faults[number] ?? assert.fail()
    const [prefix, user] = [`${number}:`, `u${number}`]
    const [bucket, record] = [`${prefix}{0}`, `${prefix}{store}`]
    const run = async (commands: string) => {
      for (const command of commands.split(', ')) await redis.command(...command.split(' '))
    }
    await run(`acl setuser ${user} on >p ~* +@all`)
    const { store, log } = await opened(redis.url.replace('://', `://${user}:p@`), prefix)
    const text = (id: string, project: string) =>
      Buffer.from(`{"id":"${id}","project_id":"${project}"}`) as EncodedItem // has the form of an encoded item
    const [id, other] = [newItemId(), newItemId()]
    await store.create(id, text(id, 'own'))
    assert.equal(await store.healthy(), true)
    await run(`copy ${bucket} saved:${bucket}, copy ${record} saved:${record}`)
    const names = { BUCKET: bucket, RECORD: record, USER: user, ID: id }
    await run(begin.replace(/[A-Z]+/g, (name) => names[name as keyof typeof names])) // faults have no other names

    const content = async () =>
      (await redis.command('hgetall', bucket).catch(String)).split('\n').sort()
    const failed = new Set<string>()
    const attempt = async (name: string, message: RegExp, operation: () => unknown) => {
      const before = await content()
      await Promise.resolve(operation()).catch(async (error) => {
        failed.add(name)
        assert.match(error.message, message)
        assert.deepEqual(await content(), before)
      })
    }
    await attempt('read', rejected, () => store.read(id))
    await attempt('list', rejected, async () => textOf(await store.list()))
    await attempt('project', rejected, async () => textOf(await store.list('own')))
    await until('the store is unhealthy', async () => !(await store.healthy()))
    await delay(1100) // the result of a health check is reused for a second
    assert.equal(await store.healthy(), false)
    await attempt('create', noChange, () => store.create(other, text(other, 'own')))
    await attempt('replace', noChange, () => store.replace(id, text(id, 'other')))
    await attempt('delete', noChange, () => store.delete(id))
    for (const name of failing.split(' ').filter(Boolean)) assert.ok(failed.has(name), name)

    await run(`acl setuser ${user} +@all, config set min-replicas-to-write 0`)
    await run(`copy saved:${bucket} ${bucket} replace, copy saved:${record} ${record} replace`)
    await until('the store is healthy', () => store.healthy())
    await until('the log says that the store is healthy', () => log.length > 1)
    const [unhealthy, healthy, ...others] = log.map((line) => JSON.parse(line))
    assert.equal(unhealthy.msg, 'the store is unhealthy')
    assert.match(unhealthy.cause, cause)
    assert.deepEqual([healthy.msg, others], ['the store is healthy again', []])
    assert.equal(await store.delete(id), 'done')
  }

  const title = (begin: string) =>
    `after ${begin}, failed changes change nothing, and the store is unhealthy until it is undone`
  // All but the last fault concern one store only.
  describe('faults of one store', { concurrency: true }, () => {
    for (const [number, [begin]] of faults.slice(0, -1).entries()) {
      test(title(begin), () => assertRefusals(number))
    }
  })
  test(title(faults.at(-1)?.[0] ?? ''), () => assertRefusals(faults.length - 1))

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
        assert.match(changeError(storeError(new ErrorReply(says))).message, means)
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
