/** Tests of the client: conditional changes, and creates that make a single item even if connections break. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  ItemStoreClient,
  type MatchOptions,
  type StoredItem,
  type TaggedItem,
  tagOf,
} from '../../src/client/client.js'
import { cuttingProxy, type Fate } from '../support/cutting-proxy.js'
import { ownService } from '../support/own-service.js'
import {
  answers,
  errorOf,
  item,
  oneItem,
  scriptedClient,
  unavailable,
  unknownId,
} from './scripted-server.js'

interface Counter {
  count: number
}

const service = await ownService()
const token = service.validToken()
const newClient = (baseUrl = service.baseUrl.href) =>
  new ItemStoreClient<Counter>({ baseUrl, token })
const client = newClient()

const tagged = answers(200, { data: item }, { etag: '"1"' })

const increment = ({ count }: Counter) => ({ count: count + 1 })

/** Returns a client behind a proxy that applies `fates`, in order, to the requests with the given method. */
async function behindProxy(method: string, fates: Fate[]) {
  const proxy = await cuttingProxy(
    () => Number(service.baseUrl.port),
    (request) => (request.startsWith(method) ? (fates.shift() ?? 'passed') : 'passed'),
  )
  return { client: newClient(proxy.baseUrl), proxy }
}

describe('a create', () => {
  test('makes one item although connections are cut before and after the response', async () => {
    const { client, proxy } = await behindProxy('POST', ['cut before', 'cut after', 'cut after'])
    const before = await client.list()
    const created = await client.create({ count: 1 })
    const text = await client.createText('{"count":1.0}')
    assert.equal(proxy.cuts, 3)
    assert.deepEqual(await client.list(), [...before, created, JSON.parse(text)])
  })

  test('has a new key for each call, or the given key', async () => {
    const { client, seen } = await scriptedClient([oneItem])
    for (let n = 0; n < 10; n += 1) await client.create({})
    await client.create({}, { idempotencyKey: 'mine' })
    const keys = seen.map(({ headers }) => headers['idempotency-key'])
    assert.equal(new Set(keys).size, 11)
    assert.equal(keys.at(-1), 'mine')
  })

  test('fails if its key belongs to another item, and names that item', async () => {
    const { id } = await client.create({ count: 1 }, { idempotencyKey: 'job-7' })
    const again = await client.create({ count: 1 }, { idempotencyKey: 'job-7' })
    assert.equal(again.id, id)
    const error = await errorOf(client.create({ count: 2 }, { idempotencyKey: 'job-7' }))
    assert.deepEqual([error.status, error.code, error.itemId], [409, 'IDEMPOTENCY_CONFLICT', id])
  })

  test('fails with an invalid key', async () => {
    const error = await errorOf(client.create({ count: 1 }, { idempotencyKey: '' }))
    assert.deepEqual([error.status, error.code], [400, 'BAD_REQUEST'])
    for (const none of ['a\nb', null]) {
      const idempotencyKey = none as string // JavaScript callers may pass any value
      const message = none ? /./ : /^ItemStoreClient: idempotencyKey is not text$/
      const expected = { name: 'TypeError', message }
      await assert.rejects(client.create({ count: 1 }, { idempotencyKey }), expected)
    }
  })
})

describe('the tag of an item', () => {
  test('comes with the result of each method, but is not a member of the item', async () => {
    const created = await client.create({ count: 1 })
    const { id } = created
    const read = await client.get(id)
    assert.equal(tagOf(created), tagOf(read))
    const replaced = await client.replace(id, { count: 2 })
    const updated = await client.update(id, increment)
    assert.equal(new Set([created, replaced, updated].map(tagOf)).size, 3)
    assert.equal(tagOf(updated), tagOf(await client.get(id)))
    assert.deepEqual(Reflect.ownKeys(read), ['id', 'project_id', 'count'])
    assert.equal(await client.getText(id), JSON.stringify(updated))
  })

  test('does not exist for copies, list items and other objects, and using one of them is an error', async () => {
    const { id } = await client.create({ count: 1 })
    const [first] = await client.list()
    assert.ok(first !== undefined)
    for (const untagged of [{ ...(await client.get(id)) }, first, {}]) {
      const other = untagged as never // JavaScript callers may pass any value
      assert.throws(() => tagOf(other), { name: 'TypeError', message: /has no tag/ })
      await assert.rejects(client.replace(id, { count: 2 }, { ifMatch: other }), /has no tag/)
      await assert.rejects(client.delete(id, { ifMatch: other }), /has no tag/)
    }
    assert.equal((await client.get(id)).count, 1)
  })

  test('is strong even if a proxy has made it weak', async () => {
    const weak = answers(200, { data: item }, { etag: 'W/"1"' })
    const { client, seen } = await scriptedClient([weak])
    assert.equal(tagOf(await client.get(item.id)), '"1"')
    await client.update(item.id, () => ({}))
    assert.equal(seen.at(-1)?.headers['if-match'], '"1"')
  })

  test('exists for an item without a prototype, as some codecs return it', async () => {
    const parse = (text: string) => Object.assign(Object.create(null), JSON.parse(text))
    const json = { parse, stringify: JSON.stringify }
    const { client } = await scriptedClient([tagged], { json })
    assert.equal(tagOf(await client.get(item.id)), '"1"')
  })

  test('is needed for update but not for get, whatever value the codec makes', async () => {
    const json = { parse: (text: string) => text, stringify: JSON.stringify }
    const { client } = await scriptedClient([oneItem], { json })
    assert.deepEqual(await client.get(item.id), JSON.stringify(item))
    const error = await errorOf(client.update(item.id, () => ({})))
    assert.deepEqual([error.status, error.code], [200, 'INVALID_RESPONSE'])
    assert.match(String(error.cause), /the item has no tag/)
  })
})

describe('with ifMatch', () => {
  type Change = (item: StoredItem<Counter>, ifMatch: MatchOptions['ifMatch']) => Promise<unknown>
  const changes: [title: string, outcome: 200 | 404, change: Change][] = [
    ['replace', 200, ({ id }, ifMatch) => client.replace(id, { count: 9 }, { ifMatch })],
    ['delete', 404, ({ id }, ifMatch) => client.delete(id, { ifMatch })],
  ]
  for (const [title, outcome, change] of changes) {
    test(`${title} succeeds with the current item, its tag or *, and fails with any other`, async () => {
      for (const ifMatchOf of [tagOf, (item: TaggedItem<Counter>) => item, () => '*']) {
        const old = await client.create({ count: 1 })
        const item = await client.replace(old.id, { count: 2 })
        for (const ifMatch of [old, tagOf(old), '"other"']) {
          const error = await errorOf(change(old, ifMatch))
          assert.deepEqual([error.status, error.code], [412, 'PRECONDITION_FAILED'])
        }
        assert.deepEqual(await client.get(old.id), item)
        await change(item, ifMatchOf(item))
        const after = await client.get(item.id).catch(({ status }) => status)
        assert.deepEqual(after, outcome === 404 ? 404 : { ...item, count: 9 })
      }
    })
  }
})

describe('update', () => {
  test('loses no change when 16 clients change one item', async () => {
    const clients = Array.from({ length: 16 }, () => newClient())
    const { id } = await client.create({ count: 0 }, { projectId: 'p' })
    const work = clients.map(async (client) => {
      for (let n = 0; n < 4; n += 1) await client.update(id, async (item) => increment(item))
    })
    await Promise.all(work)
    assert.deepEqual(await client.get(id), { id, project_id: 'p', count: 64 })
  })

  test('changes nothing when the function returns undefined', async () => {
    const { client, seen } = await scriptedClient([oneItem])
    assert.deepEqual(await client.update(item.id, () => undefined), item)
    assert.equal(await client.updateText(item.id, async () => undefined), JSON.stringify(item))
    assert.ok(seen.every(({ method }) => method === 'GET'))
  })

  test('of an unknown item, or with a function that fails, fails at once', async () => {
    const error = await errorOf(client.update(unknownId, increment))
    assert.equal(error.status, 404)
    const { id } = await client.create({ count: 0 })
    const own = await errorOf(client.replace(id, { count: 1 }, { ifMatch: '"other"' }))
    let calls = 0
    const failing = client.update(id, () => {
      calls += 1
      throw own // looks like a conflict, but comes from another call
    })
    await assert.rejects(failing, own)
    assert.equal(calls, 1)
  })

  test('is repeated when its response is lost, but only if it is repeatable', async () => {
    for (const isRepeatable of [false, true]) {
      const { client, proxy } = await behindProxy('PUT', ['cut after'])
      const { id } = await client.create({ count: 0 })
      const change = ({ count }: Counter) => (count === 1 ? undefined : { count: 1 })
      const update = client.update(id, change, { isRepeatable })
      if (isRepeatable) assert.equal((await update).count, 1)
      else assert.equal((await errorOf(update)).code, 'CONNECTION_LOST')
      assert.equal(proxy.cuts, 1)
    }
    const lost = unavailable('STORE_UNAVAILABLE')
    const { client, seen } = await scriptedClient([
      (response, request) => (request.method === 'GET' ? tagged : lost)(response, request),
    ])
    const error = await errorOf(client.update(item.id, () => ({}), { isRepeatable: true }))
    const replaces = seen.filter(({ method }) => method === 'PUT')
    assert.deepEqual([error.code, replaces.length], ['STORE_UNAVAILABLE', 4])
  })
})
