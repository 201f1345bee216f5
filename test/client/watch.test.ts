/** Tests that the client keeps watching when the service restarts, fails or sends invalid responses. */

import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { after, describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { type CallOptions, ItemStoreClient, tagOf } from '../../src/client/client.js'
import { type OwnService, ownService } from '../support/own-service.js'
import { freePort, until } from '../support/process.js'
import {
  answers,
  drops,
  dropsHalfway,
  errorOf,
  item,
  notFound,
  type Step,
  scriptedClient,
  unavailable,
  unknownId,
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

  test('of an unknown item or without a connection fails as get does', async () => {
    assert.equal((await errorOf(client.watch(unknownId).next())).status, 404)
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

  test('no more when its signal is aborted in a pause', async () => {
    const late = unavailable('X', { 'retry-after': '3000' })
    const { client, seen } = await serverWith([state('"1"'), late])
    const { end, signal, abort } = follow((options) => client.watch(item.id, options))
    await until('a second request', () => seen.length === 2)
    await delay(50) // the watch may be aborted before or during the pause
    abort()
    await assert.rejects(end, reason)
    assert.deepEqual([seen.length, getEventListeners(signal, 'abort')], [2, []])
  })
})
