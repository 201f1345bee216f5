/** Tests how often the store is called when many reads wait for a change (interface §4.10). */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type ItemStore, StoreError } from '../../src/store/item-store.js'
import { createMemoryStore } from '../../src/store/memory/store.js'
import type { Answer } from '../conformance/client.js'
import { assertItemNotFound, create, itemOf, itemsOf, record } from '../conformance/expect.js'
import { ownApp } from '../support/own-app.js'
import { until } from '../support/process.js'
import { readWaiting, tagOf } from './expect.js'

type Operation = 'read' | 'list' | 'version'

/** @param changed replaces operations of the in-memory store. */
async function crowd(changed: (memory: ItemStore) => Partial<ItemStore> = () => ({})) {
  const memory = createMemoryStore(10_000_000)
  const inner = { ...memory, ...changed(memory) }
  let counts = { read: 0, list: 0, version: 0 }
  function counted<T>(name: Operation, call: () => T): T {
    counts[name] += 1
    return call()
  }
  const store: ItemStore = {
    ...inner,
    read: (id) => counted('read', () => inner.read(id)),
    list: (project) => counted('list', () => inner.list(project)),
    version: (project) => counted('version', () => inner.version(project)),
  }
  const app = await ownApp({ store })
  const { waitingReads } = app

  /** Returns how often each store operation was called since the previous call of `asked`. */
  function asked(): Record<Operation, number> {
    const before = counts
    counts = { read: 0, list: 0, version: 0 }
    return before
  }

  /** Sends reads, and resolves once all of them are waiting for a change. */
  async function wait(count: number, method: string, path: string): Promise<Promise<Answer>[]> {
    const waited = waitingReads.limit.value()
    const tag = String((await app.call('HEAD', path)).headers.etag)
    const answers = Array.from({ length: count }, () =>
      readWaiting(app, path, tag, 'wait=60', { method }),
    )
    await until('all reads wait', () => waitingReads.limit.value() === waited + count)
    await settled(asked)
    return answers
  }

  return { app, store, asked, wait, waiting: () => waitingReads.limit.value() }
}

/** Waits until the store is no longer called, and returns the number of calls since the previous call of `asked`. */
async function settled(asked: () => Record<Operation, number>): Promise<number> {
  let sum = 0
  for (let turns = 0; turns < 20; turns += 1) {
    const { read, list, version } = asked()
    const times = read + list + version
    if (times > 0) turns = 0
    sum += times
    await nextTurn()
  }
  return sum
}

for (const method of ['GET', 'HEAD']) {
  for (const isList of [false, true]) {
    test(`§4.10 200 waiting ${method} of ${isList ? 'the list' : 'one item'} are answered by one read of the store`, async () => {
      const { app, asked, wait } = await crowd()
      const path = `/items/${(await create(app, {})).id}`
      const answers = await wait(200, method, isList ? '/items' : path)
      const replaced = await app.call('PUT', path, { data: { a: 1 } })
      const item = itemOf(replaced, 200)
      for (const answer of await Promise.all(answers)) {
        assert.equal(answer.status, 200)
        assert.equal(answer.headers['preference-applied'], 'wait=60')
        if (!isList) assert.equal(answer.headers.etag, replaced.headers.etag)
        if (method === 'HEAD') continue
        assert.deepEqual(record(answer.json()).data, isList ? [item] : item)
      }
      const ofList = { read: 0, list: method === 'GET' ? 1 : 0, version: 1 }
      assert.deepEqual(asked(), isList ? ofList : { read: 1, list: 0, version: 0 })
    })
  }
}

test('§4.10 of 200 reads that wait for different projects, a change of one project ends one, with one list of the store', async () => {
  const { app, store, asked, waiting } = await crowd()
  const paths = Array.from({ length: 200 }, (_, number) => `/items?project_id=${number}`)
  const answers = paths.map(async (path) =>
    readWaiting(app, path, await tagOf(app, path), 'wait=60'),
  )
  await until('all reads wait', () => waiting() === 200)
  await settled(asked)
  await app.call('POST', '/items', { data: {}, project_id: 'another' })
  assert.equal(await settled(asked), 0)
  const own = itemOf(await app.call('POST', '/items', { data: {}, project_id: '7' }), 201)
  assert.deepEqual(itemsOf((await answers[7]) ?? assert.fail()), [own])
  assert.deepEqual(asked(), { read: 0, list: 1, version: 1 })
  assert.equal(waiting(), 199)
  store.clear?.()
  for (const answer of await Promise.all(answers)) assert.equal(answer.status, 200)
})

test('§4.10 a replace by the same text ends none of 200 waits, and costs one read of the store', async () => {
  const { app, asked, wait, waiting } = await crowd()
  const path = `/items/${(await create(app, {})).id}`
  const answers = await wait(200, 'GET', path)
  await app.call('PUT', path, { data: {} })
  assert.equal(await settled(asked), 1)
  assert.equal(waiting(), 200)
  await app.call('DELETE', path)
  for (const answer of await Promise.all(answers))
    assertItemNotFound(answer, path.slice('/items/'.length))
})

test('§4.10 after changes during a read, the store is read once more, even for reads that came later', async () => {
  let gate: Promise<unknown> | undefined
  let open: (value?: unknown) => void = () => undefined
  const { app, asked, wait, waiting } = await crowd((memory) => ({
    async read(id) {
      const item = await memory.read(id)
      await gate
      return item
    },
  }))
  const path = `/items/${(await create(app, {})).id}`
  const replace = async (a: number) =>
    String((await app.call('PUT', path, { data: { a } })).headers.etag)
  /** Replaces the item once, and then again while the store still reads the first version. Returns all entity tags. */
  const replaceWhileReading = async (first: number, ...others: number[]) => {
    gate = new Promise((resolve) => {
      open = resolve
    })
    const tags = [await replace(first)]
    await until('the first version is being read', () => asked().read === 1)
    for (const a of others) tags.push(await replace(a))
    assert.equal(await settled(asked), 0)
    return tags
  }
  const answers = await wait(10, 'GET', path)
  const tags = await replaceWhileReading(1, 2, 3)
  const [behind, late] = [tags[0], tags[2]].map((tag) =>
    readWaiting(app, path, String(tag), 'wait=60'),
  )
  await until('the two later reads wait too', () => waiting() === 12)
  open()
  gate = undefined
  for (const answer of await Promise.all(answers)) assert.equal(itemOf(answer, 200).a, 1)
  assert.ok(behind && late)
  assert.equal(itemOf(await behind, 200).a, 3)
  assert.equal(await settled(asked), 1)
  await replaceWhileReading(3, 4)
  open()
  assert.equal(itemOf(await late, 200).a, 4)
})

test('§4.10 reads that wait for 40 items read at most 16 of them at once from the store', async () => {
  let [reading, most] = [0, 0]
  const { app, wait, store } = await crowd((memory) => ({
    async read(id) {
      reading += 1
      most = Math.max(most, reading)
      await nextTurn()
      reading -= 1
      return memory.read(id)
    },
  }))
  const answers: Promise<Answer>[] = []
  for (let number = 0; number < 40; number += 1) {
    const path = `/items/${(await create(app, {})).id}`
    answers.push(...(await wait(1, 'GET', path)))
  }
  store.clear?.()
  for (const answer of await Promise.all(answers)) assert.equal(answer.status, 404)
  assert.ok(most > 1 && most <= 16, `${most} at once`)
})

test('§4.10 a failed read of the store is a 503 for a new request, and earlier reads keep waiting', async () => {
  let fails = false
  const { app, wait } = await crowd((memory) => ({
    async read(id) {
      if (fails) throw new StoreError('STORE_UNAVAILABLE', 'away')
      return memory.read(id)
    },
  }))
  const path = `/items/${(await create(app, {})).id}`
  const answers = await wait(10, 'GET', path)
  fails = true
  assert.equal((await readWaiting(app, path, '"x"', 'wait=60')).status, 503)
  fails = false
  await app.call('PUT', path, { data: { a: 1 } })
  for (const answer of await Promise.all(answers)) assert.equal(itemOf(answer, 200).a, 1)
})
