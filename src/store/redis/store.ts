/**
 * Items in an engine that speaks the protocol of Redis (docs/redis.md): hashes of a fixed number, by
 * the id, whose fields are the items. Every command and script is about one hash.
 *
 * @module
 */

import type { EncodedItem, ItemId, ItemStore } from '../item-store.js'
import { clusterAddress } from './address.js'
import type { Reply } from './client.js'
import { openCluster } from './cluster.js'
import { memoryInfo } from './connection.js'
import type { EngineOptions } from './engine.js'
import { refused } from './failures.js'
import { openList, type ReadPage, start } from './list.js'
import {
  bytesField,
  checkScript,
  createScript,
  deleteScript,
  foreign,
  pageScript,
  replaceScript,
  type Script,
  sizeScript,
} from './scripts.js'
import { openSingle } from './single.js'

export interface RedisStoreOptions extends EngineOptions {
  /** What the keys begin with; without braces, since what is in braces picks the slot of a cluster. */
  readonly prefix: string
  /** Number of hashes: all stores with the same prefix have the same. */
  readonly buckets?: number
  /** Bytes that the engine is asked for at a time. */
  readonly pageBytes?: number
}

/** How long it holds that items could be read and changed, in milliseconds: anyone may ask. */
const healthyFor = 1000

/** @returns once the first attempt to connect has succeeded or failed; there will be others. */
export async function openRedisStore(options: RedisStoreOptions): Promise<ItemStore> {
  const { prefix, buckets = 256, pageBytes = 128 * 1024 } = options
  const keys = Array.from({ length: buckets }, (_, number) => `${prefix}{${number}}`)
  const cluster = clusterAddress(options.url)
  const engine =
    cluster === undefined ? await openSingle(options) : await openCluster(cluster, options)
  const never = { at: Number.NEGATIVE_INFINITY, isHealthy: Promise.resolve(false) }
  let checked = never
  /** By key: a field that a list has met there and that is no item's. */
  const foreignFields = new Map<string, Buffer>()

  function keyOf(id: ItemId): string {
    return keys[Number.parseInt(id.slice(0, 4), 16) % buckets] ?? prefix
  }

  /** Whether all that items are read and changed with could be done now, in every bucket. */
  async function canServe(): Promise<boolean> {
    const tried = new Set<object | undefined>()
    const checks = keys.map((key) =>
      engine.at('change', key, async (server) => {
        const field = foreignFields.get(key) ?? ''
        const session = server.session()
        if (!tried.has(session)) {
          tried.add(session) // once for each server, since it counts what it refuses
          await server.send(['EVAL', checkScript.text, '1', key, field, 'HSET'])
        }
        return await server.run(checkScript, key, field, '')
      }),
    )
    return await Promise.all(checks).then(
      () => true,
      () => false,
    )
  }

  function pagesOf(key: string): ReadPage {
    return (previous) =>
      engine.at('read', key, async (server) => {
        const session = server.session()
        // A cursor means something only to the process that gave it, and another connection may lead to
        // another one: there the bucket is read from its start again.
        const cursor = previous?.session === session ? (previous?.cursor ?? start) : start
        const page = await server.run(pageScript, key, cursor, String(pageBytes))
        const [next, entries] = page as [Buffer, Buffer[]] // as HSCAN answers
        const other = foreignFieldIn(entries)
        if (other !== undefined) {
          foreignFields.set(key, other)
          throw refused(`${foreign}: ${key}`)
        }
        return { entries, cursor: next.toString(), session }
      })
  }

  /** Runs a script on the bucket of an item. @returns whether it answers 1. */
  async function change(script: Script, id: ItemId, ...args: EncodedItem[]): Promise<boolean> {
    const key = keyOf(id)
    return (await engine.at('change', key, (server) => server.run(script, key, id, ...args))) === 1
  }

  return {
    guarantees: { isSnapshot: false, isInOrder: false },

    async create(id, item) {
      const isNew = await change(createScript, id, item)
      if (!isNew) throw new Error(`there is an item ${id} already`)
    },

    async read(id) {
      const key = keyOf(id)
      const item = await engine.at('read', key, (server) => server.send(['HGET', key, id]))
      return item === null ? undefined : (item as EncodedItem) // as it was put there
    },

    replace: (id, item) => change(replaceScript, id, item),

    delete: (id) => change(deleteScript, id),

    list: () => openList(keys.map(pagesOf)),

    async size() {
      const [used, sizes] = await Promise.all([
        engine.all('read', (server) => memoryInfo(server, 'used_memory')),
        Promise.all(
          keys.map((key) => engine.at('read', key, (server) => server.run(sizeScript, key))),
        ),
      ])
      return {
        items: sum(sizes.map((size) => numberAt(size, 0))),
        itemBytes: sum(sizes.map((size) => numberAt(size, 1))),
        pageBytes: sum(used.map((bytes) => Number(bytes ?? 0))),
      }
    },

    async clear() {
      await Promise.all(
        keys.map((key) => engine.at('change', key, (server) => server.send(['UNLINK', key]))),
      )
    },

    async healthy() {
      if (!engine.isConnected()) checked = never
      else if (performance.now() - checked.at > healthyFor) {
        checked = { at: performance.now(), isHealthy: canServe() }
      }
      return await checked.isHealthy
    },

    close: engine.close,
  }
}

/** The first field that is neither an item's nor the one for the length of all texts. */
function foreignFieldIn(entries: readonly Buffer[]): Buffer | undefined {
  for (let place = 0; place < entries.length; place += 2) {
    const [field, text] = [entries[place], entries[place + 1]]
    if (field === undefined || text === undefined) return undefined
    if (!isItem(field, text) && field.toString('latin1') !== bytesField) return field
  }
  return undefined
}

/** Whether the text begins with the id, as `{"id":"…"`, and ends like an object. */
function isItem(id: Buffer, text: Buffer): boolean {
  return (
    id.length === 36 &&
    text.length > 44 &&
    text.compare(id, 0, 36, 7, 43) === 0 &&
    text.toString('latin1', 0, 7) === '{"id":"' &&
    text[text.length - 1] === 0x7d
  )
}

function numberAt(reply: Reply, place: number): number {
  return Array.isArray(reply) ? Number(reply[place]) : 0
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
