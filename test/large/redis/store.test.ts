/** Tests the Redis store without the service. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ItemId, newItemId } from '../../../src/item/id.js'
import type { EncodedItem } from '../../../src/item/item.js'
import type { ItemList, ItemStore } from '../../../src/store/item-store.js'
import { until } from '../../support/process.js'
import { describeWithRedis, startedRedis } from '../../support/redis.js'
import { type OwnStoreOptions, ownStore } from '../../support/redis-store.js'
import {
  createItem,
  createItems,
  describeStore,
  idsIn,
  itemText,
  textOf,
} from '../../support/store-behaviour.js'

const one = { buckets: 1 }

const redis = await startedRedis()

describeWithRedis('the Redis store', () => {
  const open = (options: Partial<OwnStoreOptions> = {}, { url } = redis) =>
    ownStore({ url, ...options })

  const shapes = [
    { buckets: 1, batchBytes: 1 },
    { buckets: 3, batchBytes: 300 },
    { buckets: 8, batchBytes: 128 * 1024 },
  ]
  for (const { buckets, batchBytes } of shapes) {
    const name = `the Redis store with ${buckets} buckets and batches of ${batchBytes} bytes`
    describeStore(name, () => open({ buckets, batchBytes }), 50)
  }

  test('2,000 items are spread over nearly all of 256 buckets, and the size includes the limit of the server', async () => {
    const store = await open()
    await createItems(store, 2000)
    const keys = (await redis.command('keys', '*{*')).split('\n')
    assert.ok(new Set(keys.map((key) => key.split('{')[1])).size >= 250)
    const { items, memoryBytes, maxBytes } = await store.size()
    assert.deepEqual([items, maxBytes], [2000, undefined])
    assert.ok(memoryBytes > 2000 * 100)
    await redis.command('config', 'set', 'maxmemory', '900000000')
    const limited = await store.size()
    await redis.command('config', 'set', 'maxmemory', '0')
    assert.deepEqual([limited.maxBytes, limited.usedBytes], [900_000_000, limited.memoryBytes])
  })

  test('a list has each remaining item once if its bucket shrinks during the read', async () => {
    const store = await open({ ...one, batchBytes: 1000 })
    const ids = await createItems(store, 4000, 200)
    const read = readerOf(await store.list())
    // When the hash table shrinks, items that have been scanned move to slots that the scan visits later.
    const first = idsIn(await read(1000))
    const kept = [...first, ...ids.filter((id) => !first.includes(id)).slice(0, 20)]
    for (const id of ids) if (!kept.includes(id)) await store.delete(id)
    const shown = idsIn(await read())
    assert.equal(new Set(shown).size, shown.length, 'an item is listed twice')
    for (const id of kept) assert.ok(shown.includes(id), `${id} is not listed`)
  })

  test('a list has each item once if the server is restarted during the read', async () => {
    const other = await startedRedis()
    const store = await open({ ...one, batchBytes: 1000 }, other)
    const ids = await createItems(store, 4000, 200)
    const read = readerOf(await store.list())
    await read(500)
    await other.command('save')
    await other.kill('SIGKILL')
    await other.start()
    await until('the store is healthy again', () => store.healthy())
    assert.deepEqual(idsIn(await read()).sort(), ids.toSorted())
  })

  test('the chunks of a list with items of 1 MB are shorter than 8 MB', async () => {
    const store = await open(one)
    await createItems(store, 5000)
    for (let n = 0; n < 60; n += 1) await createItem(store, 1_000_000)
    const lengths: number[] = []
    for await (const chunk of (await store.list()).chunks) lengths.push(chunk.length)
    assert.ok(Math.max(...lengths) < 8_000_000, `${Math.max(...lengths)} bytes at a time`)
    assert.ok(lengths.length > 50)
  })

  test('the lists of several stores include the changes by all stores, with any cache, batch size and rights', async () => {
    await redis.command('acl', 'setuser', 'u', 'on', '>p', '~*', '+@all', '-sort')
    const prefix = 'several:'
    const stores = await Promise.all([
      open({ prefix }),
      open({ prefix, maxCachedBytes: 0 }),
      open({ prefix, maxCachedBytes: 20_000 }),
      open({ prefix, batchBytes: 100 }),
      open({ prefix, url: redis.url.replace('://', '://u:p@') }),
    ])
    const items = new Map<ItemId, string>()
    const storeAt = (place: number) => stores[place % stores.length] as ItemStore // `stores` is not empty
    const set = (id: ItemId, text: EncodedItem) => {
      items.set(id, text.toString())
      return text
    }
    for (let round = 0; round < 60; round += 1) {
      const changes = stores.map((_, place) => {
        const store = storeAt(round + place)
        const [id, old] = [newItemId(), [...items.keys()][(round * 7 + place * 3) % items.size]]
        if (round <= 40 || old === undefined) {
          return store.create(id, set(id, itemText(id, round * place)))
        }
        items.delete(old)
        return store.delete(old)
      })
      await Promise.all(changes)
      const [replaced = assert.fail()] = items.keys()
      await storeAt(round).replace(replaced, set(replaced, itemText(replaced, round, 'y')))
      const expected = [...items.values()].sort()
      const lists = await Promise.all(stores.map(async (store) => await store.list()))
      assert.equal(new Set(lists.map(({ version }) => version)).size, 1)
      for (const list of lists) {
        const listed = (await textOf(list)).split(/(?<=\}),(?=\{)/).filter((text) => text !== '')
        assert.deepEqual(listed.sort(), expected)
      }
    }
  })

  test('a project may have any name, however it is escaped, and its version changes with its items only', async () => {
    const store = await open({ buckets: 2 })
    const names = ['a', 'é"\\/', '*->bytes', '{1}', '\u{1f600}\0', 'x'.repeat(300), '\\ud800', ' ']
    const unit = (code: number) => `\\u${code.toString(16).padStart(4, '0')}`
    const escaped = (text: string) =>
      Array.from({ length: text.length }, (_, place) => unit(text.charCodeAt(place))).join('')
    const item = (id: ItemId, project: string) =>
      Buffer.from(`{"id":"${id}","project_id":${project}}`) as EncodedItem // has the form of an encoded item
    const versions = () =>
      Promise.all(names.map(async (name) => `${name} ${await store.version(name)}`))
    const seen = new Set(await versions())
    const assertChanged = async (change: () => unknown, changed: string[]) => {
      const before = await versions()
      await change()
      const after = await versions()
      for (const [place, name] of names.entries()) {
        const version = after[place] ?? ''
        assert.equal(version !== before[place], changed.includes(name), name)
        assert.equal(changed.includes(name) && seen.has(version), false, 'a version has come back')
        seen.add(version)
      }
    }
    const id = newItemId()
    // A lone surrogate can't be encoded as UTF-8, so no request has one. It may share the version of another name.
    await store.create(id, item(id, '"\\ud800"'))
    let former = ['\\ud800']
    for (const name of [...names, ...names]) {
      for (const text of [JSON.stringify(name), `"${escaped(name)}"`]) {
        const changed = former.includes(name) ? [name] : [...former, name]
        await assertChanged(() => store.replace(id, item(id, text)), changed)
        assert.deepEqual(idsIn(await textOf(await store.list(name))), [id])
        former = [name]
      }
    }
    await assertChanged(() => store.delete(id), former)
    for (const name of names) assert.equal(await textOf(await store.list(name)), '')
  })

  test('a project without items is forgotten after an hour', async () => {
    const [prefix, used] = ['forgetting:', '1 1-ab']
    const store = await open({ ...one, prefix })
    const ids = await createItems(store, 20)
    const key = `${prefix}{0}`
    const at = (hours: number) => `0 ${Date.now() - hours * 3_600_000}-ab`
    const names = async () =>
      (await redis.command('hkeys', key)).split('\n').filter((name) => name.startsWith(':'))
    await redis.command('hset', key, ':old', at(1.01), ':new', at(0.9), ':used', used)
    await until('the project is forgotten', async () => {
      for (const id of ids) await store.replace(id, itemText(id, 5))
      return !(await names()).includes(':old')
    })
    assert.deepEqual((await names()).sort(), [':new', ':used'])
  })

  test('a list reads no projects without items, and goes on caching the bucket that remembers them', async () => {
    const prefix = 'remembering:'
    const store = await open({ ...one, prefix })
    const ids = await createItems(store, 20)
    const names = Array.from({ length: 4000 }, (_, n) => `:a project without items ${n}`)
    const fields = names.flatMap((name) => [name, `0 ${Date.now()}-ab`])
    await redis.command('hset', `${prefix}{0}`, ...fields)
    const textBytes = (await textOf(await store.list())).length
    const before = await sentBytes()
    for (let n = 0; n < 10; n += 1) {
      assert.deepEqual(idsIn(await textOf(await store.list())).sort(), ids.toSorted())
    }
    await store.replace(ids[0] as ItemId, itemText(ids[0] as ItemId, 0)) // there are 20 ids
    await textOf(await store.list())
    const bytes = (await sentBytes()) - before
    assert.ok(bytes < 3 * textBytes + 20_000, `${bytes} bytes`)
  })

  test('a list of one project reads only the buckets that have its items, and its version reads no items', async () => {
    const store = await open()
    const create = async (project: string, length: number) => {
      const id = newItemId()
      const text = `{"id":"${id}","project_id":"${project}","text":"${'x'.repeat(length)}"}`
      await store.create(id, Buffer.from(text) as EncodedItem) // has the form of an encoded item
      return id
    }
    for (let n = 0; n < 30; n += 1) await create('other', 1_000_000)
    const former = await Promise.all(Array.from({ length: 600 }, () => create('own', 10)))
    for (const id of former) await store.delete(id)
    const ids = [await create('own', 10), await create('own', 10)]
    const before = await sentBytes()
    assert.notEqual(await store.version('own'), await store.version('none'))
    assert.deepEqual(idsIn(await textOf(await store.list('own'))).sort(), ids.sort())
    const bytes = (await sentBytes()) - before
    assert.ok(bytes < 5_000_000, `${bytes} bytes`) // a bucket may have an item of each project
  })

  test('lists are complete while another program has changed the set of numbers', async () => {
    const prefix = 'numbers:'
    const store = await open({ buckets: 4, prefix })
    const ids = await createItems(store, 40)
    const complete = async () => idsIn(await textOf(await store.list())).length === ids.length
    assert.ok(await complete())
    await redis.command('zrem', `${prefix}{numbers}`, '2')
    await redis.command('zadd', `${prefix}{numbers}`, '2', 'other')
    await until('the list is complete', complete)
    await redis.command('zrem', `${prefix}{numbers}`, 'other')
    await redis.command('zadd', `${prefix}{numbers}`, '300', '300')
    await until('the numbers are used again', async () => {
      await redis.command('config', 'resetstat')
      const isComplete = await complete()
      return isComplete && !(await redis.command('info', 'commandstats')).includes('cmdstat_hmget')
    })
    await redis.command('del', `${prefix}{numbers}`)
    await redis.command('set', `${prefix}{numbers}`, 'text')
    await until('the list is complete', complete)
    assert.ok(await store.healthy())
  })

  test('the length of a short list is known before the list is read', async () => {
    const store = await open()
    await createItems(store, 50)
    const { byteLength } = await store.list()
    assert.equal(byteLength, (await textOf(await store.list())).length + 50) // each item has one é, of two bytes
    await createItems(store, 1000, 1000)
    assert.equal((await store.list()).byteLength, undefined)
  })
})

async function sentBytes(): Promise<number> {
  return Number(/^total_net_output_bytes:(\d+)/m.exec(await redis.command('info', 'stats'))?.[1])
}

/** Returns a function that reads the list until `bytes` bytes have been read in all, and returns the text so far. */
function readerOf(list: ItemList): (bytes?: number) => Promise<string> {
  assert.ok(Symbol.asyncIterator in list.chunks)
  const chunks = list.chunks[Symbol.asyncIterator]()
  let text = ''
  return async (bytes = Number.POSITIVE_INFINITY) => {
    while (text.length < bytes) {
      const { done, value } = await chunks.next()
      if (done) break
      text += Buffer.from(value)
    }
    return text
  }
}
