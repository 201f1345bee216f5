/** Tests that the client's timeouts and signals end waiting calls. */

import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { ItemStoreClient } from '../../src/client/client.js'
import { until } from '../support/process.js'
import {
  type Call,
  calls,
  errorOf,
  hangs,
  item,
  oneItem,
  type Step,
  scriptedClient,
  stalls,
  unavailable,
} from './scripted-server.js'

const token = 'a.b.c'
const { id } = item
const all: [title: string, call: Call][] = Object.entries(calls)
const start = '{"session_id":"s","data":['
const base = { baseUrl: 'http://a/api/v1' }
const never = () => new Promise<never>(() => undefined)

describe('timeout', () => {
  for (const [title, call] of all) {
    test(`ends ${title} when there is no response`, async () => {
      const { client, seen } = await scriptedClient([hangs], { timeout: 100, retries: 0 })
      const error = await errorOf(call(client))
      assert.deepEqual([error.code, error.status], ['TIMEOUT', undefined])
      assert.equal(error.message, 'No response within 100 ms')
      assert.ok(seen.length <= 1) // 0 if connecting took longer than the timeout
    })
  }

  test('ends a wait for a token', async () => {
    const client = new ItemStoreClient({ ...base, token: never, timeout: 100 })
    assert.equal((await errorOf(client.list())).code, 'TIMEOUT')
  })

  test('does not limit the time that the caller spends on an item', async () => {
    const body = new ReadableStream({
      start(controller) {
        for (const part of [`${start}{"id":"1"}`, ',{"id":"2"}', ']}']) {
          controller.enqueue(Buffer.from(part))
        }
        controller.close()
      },
    })
    const fetch = async () => new Response(body)
    const client = new ItemStoreClient({ ...base, token, fetch, timeout: 100 })
    const seen: string[] = []
    for await (const { id } of client.items()) {
      await delay(200)
      seen.push(id)
    }
    assert.deepEqual(seen, ['1', '2'])
  })

  test('may be longer than the longest timer', async () => {
    for (const timeout of [2 ** 31, Number.POSITIVE_INFINITY]) {
      const { client } = await scriptedClient([oneItem], { timeout })
      assert.deepEqual(await client.get(id), item)
    }
  })
})

describe('a signal', () => {
  const reason = new Error('not needed any more')

  for (const [title, call] of all) {
    test(`that is already aborted prevents all requests of ${title}`, async () => {
      const fetch = () => assert.fail('a request was sent')
      const ask = () => assert.fail('a token was asked for')
      const client = new ItemStoreClient({ ...base, token: ask, fetch })
      await assert.rejects(call(client, { signal: AbortSignal.abort(reason) }), reason)
    })
  }

  const later = unavailable('SERVICE_UNAVAILABLE', { 'retry-after': '3000' })
  const waits: [title: string, step: Step, call: Call][] = [
    ['a call without a response', hangs, (client, options) => client.get(id, options)],
    ['a call while its response arrives', stalls, (client, options) => client.list(options)],
    ['a call in the pause before a retry', later, (client, options) => client.get(id, options)],
  ]
  for (const [title, step, call] of waits) {
    test(`ends ${title} and its connection, and has no listener left`, async () => {
      const { client, seen, ended } = await scriptedClient([step], { timeout: 1e7 })
      const controller = new AbortController()
      const { signal } = controller
      const rejected = assert.rejects(call(client, { signal }), reason)
      await until('a request', () => seen.length === 1)
      await delay(50) // the call may be aborted before or during the wait
      controller.abort(reason)
      await rejected
      assert.deepEqual([seen.length, getEventListeners(signal, 'abort')], [1, []])
      await until('the end of the response', () => ended.count > 0)
    })
  }

  test('ends a loop over items', async () => {
    const { client } = await scriptedClient([
      (response) => response.end(`${start}{"id":"1"},{"id":"2"},{"id":"3"}]}`),
    ])
    const controller = new AbortController()
    const { signal } = controller
    const seen: string[] = []
    const reading = async () => {
      for await (const { id } of client.items({ signal })) {
        seen.push(id)
        if (id === '2') controller.abort(reason)
      }
    }
    await assert.rejects(reading(), reason)
    assert.deepEqual([seen, getEventListeners(signal, 'abort')], [['1', '2'], []])
  })

  test('ends a wait for a token, and a fetch that ignores signals', async () => {
    for (const options of [{ token: never }, { token, fetch: never }]) {
      const controller = new AbortController()
      const client = new ItemStoreClient({ ...base, ...options })
      const ended = assert.rejects(client.get(id, { signal: controller.signal }), reason)
      controller.abort(reason)
      await ended
    }
  })

  test('that many calls share has one listener, and ends all calls', async () => {
    const { client, seen } = await scriptedClient([hangs])
    const controller = new AbortController()
    const { signal } = controller
    const ended = all.map(([, call]) => assert.rejects(call(client, { signal }), reason))
    await until('all requests', () => seen.length === ended.length)
    assert.equal(getEventListeners(signal, 'abort').length, 1)
    controller.abort(reason)
    await Promise.all(ended)
    assert.deepEqual(getEventListeners(signal, 'abort'), [])
  })

  test('has no listener left after a call that succeeded, which leaves no timer either', async () => {
    const { client } = await scriptedClient([oneItem])
    const { signal } = new AbortController()
    const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout')
    const before = timers()
    await client.get(id, { signal })
    assert.deepEqual([getEventListeners(signal, 'abort'), timers()], [[], before])
  })
})
