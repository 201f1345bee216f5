/** Tests that the client keeps watching when the service restarts, fails or sends invalid responses. */

import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { after, describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { type CallOptions, ItemStoreClient, tagOf } from '../../src/client/client.js'
import { cuttingProxy } from '../support/cutting-proxy.js'
import { ownProcess } from '../support/own-process.js'
import { type OwnService, ownService } from '../support/own-service.js'
import { freePort } from '../support/process.js'
import { until } from '../support/until.js'
import {
  answers,
  drops,
  dropsHalfway,
  errorOf,
  hangs,
  item,
  notFound,
  type Step,
  scriptedClient,
  unavailable,
  unknownId,
  withLongerTimeouts,
} from './scripted-server.js'

interface Counter {
  count: number
}

const reason = new Error('enough')

function clientOf(service: OwnService): ItemStoreClient<Counter> {
  return new ItemStoreClient({ baseUrl: service.baseUrl.href, token: service.validToken() })
}

function follow<State>(watch: (options: CallOptions) => AsyncGenerator<State, void, void>) {
  const controller = new AbortController()
  const { signal } = controller
  after(() => controller.abort())
  const seen: State[] = []
  const end = (async () => {
    for await (const state of watch({ signal })) seen.push(state)
    return 'ended'
  })()
  end.catch(() => undefined) // prevents an unhandled rejection before a test awaits `end`
  return { seen, end, signal, abort: () => controller.abort(reason) }
}

const service = await ownService()
const client = clientOf(service)

describe('watch', () => {
  test('of an item yields the current state, then later states, and ends when the item is deleted', async () => {
    const { id } = await client.create({ count: 0 })
    const { seen, end } = follow((options) => client.watch(id, options))
    for (let count = 1; count <= 3; count += 1) {
      await until('the state', () => seen.at(-1)?.count === count - 1)
      await client.replace(id, { count })
    }
    await until('the last state', () => seen.at(-1)?.count === 3)
    const counts = seen.map(({ count }) => count)
    assert.deepEqual(counts, [0, 1, 2, 3])
    assert.equal(tagOf(seen[3] ?? assert.fail()), tagOf(await client.get(id)))
    await client.delete(id)
    assert.equal(await end, 'ended')
  })

  test('of all items yields the list after each create, replace and delete', async () => {
    const client = clientOf(await ownService())
    const { seen } = follow((options) => client.watch(options))
    await until('the first list', () => seen.length === 1)
    const one = await client.create({ count: 1 })
    await until('the created item', () => seen.at(-1)?.length === 1)
    const other = await client.replace(one.id, { count: 2 })
    await until('the replaced item', () => seen.at(-1)?.[0]?.count === 2)
    await client.delete(one.id)
    await until('no item', () => seen.at(-1)?.length === 0)
    assert.deepEqual(seen, [[], [one], [other], []])
  })

  test('yields the last state, however fast the changes are', async () => {
    const { id } = await client.create({ count: 0 })
    const { seen } = follow((options) => client.watch(id, options))
    for (let n = 0; n < 200; n += 1) await client.replace(id, { count: n })
    await until('the last state', () => seen.at(-1)?.count === 199)
    const counts = seen.map(({ count }) => count)
    const sorted = counts.toSorted((one, other) => one - other)
    assert.deepEqual(counts, sorted)
  })

  test('continues when the service is stopped and started again', async () => {
    const JWT_SECRET = 'a secret of at least thirty-two bytes'
    let service = await ownService({ JWT_SECRET })
    const portOf = () => Number(service.baseUrl.port)
    const { baseUrl } = await cuttingProxy(portOf, () => 'passed')
    const client = new ItemStoreClient<Counter>({ baseUrl, token: service.validToken() })
    const { seen, end, abort } = follow((options) => client.watch(options))
    const { id } = await client.create({ count: 1 })
    const single = follow((options) => client.watch(id, options))
    await until('the item', () => seen.at(-1)?.length === 1 && single.seen.length === 1)

    await service.stop()
    await delay(300)
    service = await ownService({ JWT_SECRET })
    await until('the empty list of a new store', () => seen.at(-1)?.length === 0)
    assert.equal(await single.end, 'ended') // the new store does not have the item
    const created = await client.create({ count: 2 })
    await until('the item of the new store', () => seen.at(-1)?.length === 1)
    assert.deepEqual(seen.at(-1), [created])

    abort()
    await assert.rejects(end, reason)
  })

  test('ends when its signal is aborted during a wait, and removes its listener', async () => {
    const { id } = await client.create({ count: 0 })
    const all = [
      follow((options) => client.watch(id, options)),
      follow((options) => client.watch(options)),
    ]
    await until('the first states', () => all.every(({ seen }) => seen.length === 1))
    await delay(200) // the watches may be aborted before or during a wait
    for (const { abort, end, signal } of all) {
      abort()
      await assert.rejects(end, reason)
      assert.deepEqual(getEventListeners(signal, 'abort'), [])
    }
  })

  test('does not keep the process alive after a break or an abort', async () => {
    const { id } = await client.create({ count: 0 })
    const module = new URL('../../src/client/client.js', import.meta.url)
    const program = `
      import { ItemStoreClient } from '${pathToFileURL(module.pathname)}'
      const options = { baseUrl: '${service.baseUrl.href}', token: '${service.validToken()}' }
      const client = new ItemStoreClient(options)
      for await (const item of client.watch('${id}')) break
      const controller = new AbortController()
      try {
        for await (const items of client.watch({ signal: controller.signal })) {
          setTimeout(() => controller.abort(), 300)
        }
      } catch (error) {
        console.log(error.name)
      }`
    const command = [process.execPath, '--input-type=module', '-e', program] as const
    const run = ownProcess(command, { cwd: process.cwd(), env: {} })
    assert.deepEqual(await run.ended(), [0, null])
    assert.equal(await run.printed(/^/), 'AbortError\n')
  })

  test('of an unknown item, with a wrong token or without a connection fails as get does', async () => {
    const missing = await errorOf(client.watch(unknownId).next())
    assert.equal(missing.status, 404)
    const { href: baseUrl } = service.baseUrl
    const other = new ItemStoreClient({ baseUrl, token: 'wrong' })
    assert.equal((await errorOf(other.watch().next())).code, 'INVALID_TOKEN')
    await assert.rejects(client.watch('..').next(), TypeError)
    const closed = `http://127.0.0.1:${await freePort()}/api/v1`
    const none = new ItemStoreClient({ baseUrl: closed, token: 'a', retries: 0 })
    assert.equal((await errorOf(none.watch().next())).code, 'NOT_CONNECTED')
  })
})

function state(tag: string): Step {
  return answers(200, { data: item }, { etag: tag })
}

function listed(tag: string, title = 'a', headers: Record<string, string> = {}): Step {
  return answers(200, { data: [{ ...item, title }] }, { etag: tag, ...headers })
}

function unchanged(tag: string, headers: Record<string, string> = {}): Step {
  return answers(304, '', { etag: tag, ...headers })
}

const waited = { 'preference-applied': 'wait=1' }

function serverWith(steps: readonly Step[], timeout = 30_000) {
  return scriptedClient(steps, { retries: 0, timeout })
}

describe('a watch asks', { concurrency: true }, () => {
  test('the service to wait for less than the timeouts of the client and of proxies', async () => {
    for (const [timeout, prefer] of [
      [30_000, 'wait=20'],
      [15_000, 'wait=10'],
      [Number.POSITIVE_INFINITY, 'wait=40'],
    ] as const) {
      const { client, seen } = await serverWith([state('"1"'), notFound], timeout)
      assert.equal(await follow((options) => client.watch(item.id, options)).end, 'ended')
      const asked = seen.map(({ headers }) => `${headers['if-none-match']} ${headers.prefer}`)
      assert.deepEqual(asked, ['undefined undefined', `"1" ${prefer}`])
    }
  })

  test('again after temporary failures, yields only changed states, and fails with a permanent error', async () => {
    const { client, seen: requests } = await serverWith([
      listed('"1"'),
      drops,
      dropsHalfway,
      unavailable('STORE_UNAVAILABLE'),
      answers(502, '<html></html>'),
      listed('"1"', 'a', waited),
      unchanged('"1"', waited),
      listed('W/"2"', 'b', waited),
      unchanged('W/"2"', waited),
      answers(401, { detail: { detail: 'no', error_code: 'INVALID_TOKEN' } }),
    ])
    const { seen, end } = follow((options) => client.watch(options))
    assert.equal((await errorOf(end)).code, 'INVALID_TOKEN')
    assert.deepEqual(seen, [[item], [{ ...item, title: 'b' }]])
    assert.equal(requests.at(-1)?.headers['if-none-match'], 'W/"2"')
  })

  test('no more after a 304 without a condition', async () => {
    const { client, seen } = await serverWith([unchanged('"1"')])
    for (const watch of [client.watch(item.id), client.watch()]) {
      const error = await errorOf(watch.next())
      assert.deepEqual([error.status, error.code], [304, 'INVALID_RESPONSE'])
    }
    assert.equal(seen.length, 2)
  })

  test('again after a request that timed out', async () => {
    await withLongerTimeouts(500, async (timeout) => {
      const { client } = await serverWith([state('"1"'), hangs, notFound], timeout)
      assert.equal(await follow((options) => client.watch(item.id, options)).end, 'ended')
    })
  })

  let changes = 0
  const changing: Step = (response, request) => {
    changes += 1
    state(`"${changes}"`)(response, request)
  }
  const late = unavailable('X', { 'retry-after': '9'.repeat(30) })
  /** Services that end each wait at once. A watch may send `atOnce` requests, plus `perSecond` per second. */
  const restless: [title: string, first: Step, then: Step, atOnce: number, perSecond: number][] = [
    ['each connection is lost', state('"1"'), drops, 0, 3],
    ['each response is a 503 with a long Retry-After', state('"1"'), late, 0, 1.5],
    ['each response is a change', changing, changing, 2, 10],
  ]
  for (const [title, first, then, atOnce, perSecond] of restless) {
    test(`at a limited rate, even if ${title}`, async () => {
      const { client, seen } = await serverWith([first, then])
      const start = performance.now()
      const { end, abort } = follow((options) => client.watch(item.id, options))
      await until('a second request', () => seen.length >= 2)
      await delay(2_000)
      abort()
      await assert.rejects(end, reason)
      const allowed = atOnce + (perSecond * (performance.now() - start)) / 1_000
      assert.ok(seen.length <= allowed, `${seen.length} requests`)
    })
  }
})
