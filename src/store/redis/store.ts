/**
 * Items in an engine that speaks the protocol of Redis (docs/redis.md): hashes of a fixed number, by
 * the id, whose fields are the items.
 *
 * @module
 */

import type { EncodedItem, ItemId, ItemStore } from '../item-store.js'
import { type ConnectionOptions, openConnection, type Reply } from './connection.js'
import { openList, type ReadPage, start } from './list.js'
import { createScript, deleteScript, pageScript, replaceScript, sizeScript } from './scripts.js'

export interface RedisStoreOptions extends ConnectionOptions {
  /** What the keys begin with; without braces, since what is in braces picks the slot of a cluster. */
  readonly prefix: string
  /** Number of hashes: all stores with the same prefix have the same. */
  readonly buckets?: number
  /** Bytes that the engine is asked for at a time. */
  readonly pageBytes?: number
}

/** How long it holds that all buckets could be written to, in milliseconds: anyone may ask. */
const healthyFor = 1000

/** @returns once the first attempt to connect has succeeded or failed; there will be others. */
export async function openRedisStore(options: RedisStoreOptions): Promise<ItemStore> {
  const { prefix, buckets = 256, pageBytes = 128 * 1024, log } = options
  const keys = Array.from({ length: buckets }, (_, number) => `${prefix}{${number}}`)
  const connection = await openConnection(options)
  let checked = { at: Number.NEGATIVE_INFINITY, isHealthy: Promise.resolve(false) }
  await warnOfEviction()

  function keyOf(id: ItemId): string {
    return keys[Number.parseInt(id.slice(0, 4), 16) % buckets] ?? prefix
  }

  /** What the engine says of its memory. */
  async function memory(name: string): Promise<string | undefined> {
    const info = String(await connection.send('read', ['INFO', 'memory']))
    return new RegExp(`^${name}:(.*?)\r?$`, 'm').exec(info)?.[1]
  }

  /** A bucket has no time to live, so the policies for keys that have one do no harm. */
  async function warnOfEviction(): Promise<void> {
    const policy = await memory('maxmemory_policy').catch(() => undefined)
    if (policy?.startsWith('allkeys-') !== true) return
    log.warn(
      { policy },
      'the store deletes items at its maxmemory; set maxmemory-policy noeviction',
    )
  }

  /** Whether every bucket can be written to: takes out a field that is not there. */
  async function canWrite(): Promise<boolean> {
    const changes = keys.map((key) => connection.send('change', ['HDEL', key, '']))
    return await Promise.all(changes).then(
      () => true,
      () => false,
    )
  }

  function pagesOf(key: string): ReadPage {
    return async (previous) => {
      const current = connection.number()
      // A cursor means something only to the process that gave it, and another connection may lead to
      // another one: there the bucket is read from its start again.
      const cursor = previous?.connection === current ? (previous?.cursor ?? start) : start
      const page = await connection.run('read', pageScript, key, cursor, String(pageBytes))
      const [next, entries] = page as [Buffer, Buffer[]] // as HSCAN answers
      return { entries, cursor: next.toString(), connection: current }
    }
  }

  return {
    guarantees: { isSnapshot: false, isInOrder: false },

    async create(id, item) {
      const isNew = await connection.run('change', createScript, keyOf(id), id, item)
      if (isNew !== 1) throw new Error(`there is an item ${id} already`)
    },

    async read(id) {
      const item = await connection.send('read', ['HGET', keyOf(id), id])
      return item === null ? undefined : (item as EncodedItem) // as it was put there
    },

    async replace(id, item) {
      return (await connection.run('change', replaceScript, keyOf(id), id, item)) === 1
    },

    async delete(id) {
      return (await connection.run('change', deleteScript, keyOf(id), id)) === 1
    },

    list: () => openList(keys.map(pagesOf)),

    async size() {
      const [pageBytes, ...sizes] = await Promise.all([
        memory('used_memory'),
        ...keys.map((key) => connection.run('read', sizeScript, key)),
      ])
      const sum = (place: number) =>
        sizes.reduce<number>((total, size) => total + numberAt(size, place), 0)
      return { items: sum(0), itemBytes: sum(1), pageBytes: Number(pageBytes) }
    },

    async clear() {
      await Promise.all(keys.map((key) => connection.send('change', ['UNLINK', key])))
    },

    async healthy() {
      if (connection.number() === undefined) return false
      if (performance.now() - checked.at > healthyFor) {
        checked = { at: performance.now(), isHealthy: canWrite() }
      }
      return await checked.isHealthy
    },

    close: connection.close,
  }
}

function numberAt(reply: Reply, place: number): number {
  return Array.isArray(reply) ? Number(reply[place]) : 0
}
