/**
 * Items in an engine that speaks the protocol of Redis (docs/reference/redis.md): a fixed number of hashes, the
 * buckets, chosen by the id, whose fields are the items.
 *
 * @module
 */

import { hash, randomUUID } from 'node:crypto'
import {
  type ChangeOutcome,
  type EncodedItem,
  type ItemId,
  type ItemStore,
  StoreError,
  StoreMismatchError,
} from '../item-store.js'
import { Agreement, bucketsByDefault } from './agreement.js'
import { Changes } from './changes.js'
import type { Command } from './client.js'
import type { ClusterOptions } from './cluster.js'
import type { RedisReply } from './connection.js'
import { openEngine } from './engine.js'
import { errorCodeOf, notAgreed, type Purpose, storeError } from './errors.js'
import { type Batch, firstCursor, isItem, openList, unexpectedFieldIn } from './list.js'
import { memoryIn } from './memory.js'
import {
  batchScript,
  createScript,
  deleteScript,
  outcomes,
  probeScript,
  readShortScript,
  replaceScript,
  type Script,
  sizesScript,
  unexpectedData,
} from './scripts.js'
import { Suspects } from './suspects.js'
import { Traffic } from './traffic.js'

export interface RedisStoreOptions extends Omit<ClusterOptions, 'traffic'> {
  /** As in `STORE_URL`. */
  readonly url: string
  /** Prefix of the keys, without braces, since what is in braces picks the slot of a cluster. */
  readonly prefix: string
  /** Number of hashes: all stores with the same prefix have the same. A power of two. */
  readonly buckets?: number
  /** Bytes of items that the engine is asked for at a time. */
  readonly batchBytes?: number
}

/** Ids that follow from keys are the same for all services, now and later. */
const namespace = '6ab91c7c-0ff1-4a29-8c53-5d47a2e4a6f1'

/** How long the result of a health check is used again, in milliseconds: anyone may ask, at any rate. */
const healthyFor = 1000

/** Number of keys that a script takes at most: the size of 256 buckets takes the engine 0.35 ms. */
const groupLength = 256

/**
 * @returns once the first attempt to connect has succeeded or failed; there will be others.
 * @throws {StoreMismatchError} if the store has another number of buckets.
 */
export async function openRedisStore(options: RedisStoreOptions): Promise<ItemStore> {
  const { prefix, buckets = bucketsByDefault, batchBytes = 128 * 1024, url, timeout, log } = options
  const keys = Array.from({ length: buckets }, (_, number) => `${prefix}{${number}}`)
  const traffic = new Traffic()
  const engine = openEngine({ url, timeout, log, traffic, onLost: () => agreement.doubt() })
  /** Keys that one script may take together; in a cluster each has a slot of its own. */
  const groups = groupsOf(keys, engine.serverOf === undefined ? groupLength : 1)
  const agreement = new Agreement({ prefix, keys, groups, log, engine })
  await engine.firstAttempt
  await agreement.check(true).catch((error) => {
    if (!(error instanceof StoreMismatchError)) return // the health check tells
    engine.close()
    throw error
  })
  const never = { at: Number.NEGATIVE_INFINITY, isHealthy: Promise.resolve(false) }
  let checked = never
  const suspects = new Suspects()
  const changes = new Changes({
    keyOf,
    versionsOf: async (wanted) =>
      new Map((await sizes(wanted)).map((one) => [one.key, one.version])),
  })

  /**
   * The one way to the engine.
   * @param withText sent instead where the engine does not know the script of the command: it has the text.
   * @throws {StoreError}
   */
  async function call(
    purpose: Purpose,
    key: string,
    command: Command,
    withText?: Command,
  ): Promise<RedisReply> {
    if (!agreement.isReached) {
      await agreement.check().catch((error) => {
        throw notAgreed(error, purpose)
      })
    }
    try {
      return await engine.send(command, key)
    } catch (error) {
      const code = errorCodeOf(error)
      // The engine forgets scripts when it is started again; nothing has been done then.
      if (code === 'NOSCRIPT' && withText) return await call(purpose, key, withText)
      if (code === 'WRONGTYPE' || code === unexpectedData) suspects.add(key)
      throw storeError(error, purpose)
    }
  }

  function run(
    purpose: Purpose,
    { digest, text, replyBytes }: Script,
    scriptKeys: readonly string[],
    ...args: (string | Buffer)[]
  ): Promise<RedisReply> {
    const rest = [String(scriptKeys.length), ...scriptKeys, ...args]
    const command = { parts: ['EVALSHA', digest, ...rest], replyBytes }
    const withText = { parts: ['EVAL', text, ...rest], replyBytes }
    return call(purpose, scriptKeys[0] ?? '', command, withText)
  }

  function keyOf(id: ItemId): string {
    return keys[Number.parseInt(id.slice(0, 4), 16) % buckets] as string // each remainder has one
  }

  /**
   * Runs a script on the bucket of an item.
   * @param expected the text that the item must have; none if any will do.
   */
  async function change(
    script: Script,
    id: ItemId,
    item: EncodedItem | '',
    expected?: EncodedItem,
  ): Promise<ChangeOutcome> {
    const digest = expected === undefined ? '' : hash('sha1', expected)
    const args = [id, randomUUID(), item, digest]
    const { value } = await run('change', script, [keyOf(id)], ...args).catch((error) => {
      if (error instanceof StoreError && error.isOutcomeUnknown) traffic.unknownOutcomes += 1
      throw error
    })
    const outcome = outcomes[value as keyof typeof outcomes] // as the scripts answer
    if (outcome === 'done') changes.made(id)
    return outcome
  }

  /** Of all buckets, or those with these keys: the number of items, their bytes, and the version. */
  async function sizes(
    wanted?: ReadonlySet<string>,
  ): Promise<{ key: string; items: number; bytes: number; version: string }[]> {
    const asked = groups
      .map((group) => (wanted === undefined ? group : group.filter((key) => wanted.has(key))))
      .filter((group) => group.length > 0)
    const replies = await Promise.all(asked.map((group) => run('read', sizesScript, group)))
    const values = replies.flatMap(({ value }) => value)
    return asked.flat().map((key, place) => {
      const [items, bytes, version] = values.slice(3 * place, 3 * place + 3)
      return { key, items: Number(items), bytes: Number(bytes), version: String(version) }
    })
  }

  /** One version of all buckets. */
  function versionOf(all: readonly { version: string }[]): string {
    return hash('sha1', all.map(({ version }) => version).join(), 'base64url')
  }

  async function readBatch(key: string, previous?: Batch): Promise<Batch> {
    const cursor = previous?.cursor ?? firstCursor
    const { value, client } = await run('read', batchScript, [key], cursor, String(batchBytes))
    // A cursor means nothing to another process of the engine: there the bucket is read from its start.
    if (previous !== undefined && previous.client !== client) return await readBatch(key)
    const [next, entries] = value as [Buffer, Buffer[]] // as HSCAN answers
    const field = unexpectedFieldIn(entries)
    if (field !== undefined) throw suspects.unexpected(key, field)
    return { entries, cursor: next.toString(), client }
  }

  /** One key of each server. */
  function keyOfEachServer(): string[] {
    return [...new Map(keys.map((key) => [engine.serverOf?.(key), key])).values()]
  }

  /** Tries whatever items are read and changed with: once on each server, and where data is suspect. */
  async function assertServes(): Promise<void> {
    await agreement.check()
    const probed = new Set([...keyOfEachServer(), ...suspects.keys])
    const probes = [...probed].map((key) => {
      const read = async (field: Buffer) =>
        (await call('read', key, { parts: ['HGET', key, field] })).value
      const probe = () => call('change', key, { parts: ['EVAL', probeScript.text, '1', key, ''] })
      return suspects.check(key, read, probe)
    })
    const read = groups.filter((group) => group.some((key) => probed.has(key)))
    await Promise.all([...probes, ...read.map((group) => run('read', sizesScript, group))])
  }

  return {
    guarantees: { isSnapshot: false, isInOrder: false },

    traffic,

    namespace,

    create: async (id, item) => (await change(createScript, id, item)) === 'done',

    async read(id) {
      const key = keyOf(id)
      const parts = ['HGET', key, id]
      // A script takes the engine three times as long, 2.2 µs instead of 0.7, so most reads do without.
      const hasRoom = engine.hasRoom(key)
      let { value } = await (hasRoom
        ? call('read', key, { parts })
        : run('read', readShortScript, [key], id))
      if (typeof value === 'number') {
        ;({ value } = await call('read', key, { parts, replyBytes: value }))
      }
      if (value === null) return undefined
      if (!isItem(id, value as Buffer)) throw suspects.unexpected(key, Buffer.from(id)) // a field is bytes
      return value as EncodedItem // just checked
    },

    replace: (id, item, expected) => change(replaceScript, id, item, expected),

    delete: (id, expected) => change(deleteScript, id, '', expected),

    async list() {
      const all = await sizes()
      const filled = all.filter(({ items }) => items > 0)
      const list = await openList(
        filled.map(({ key, bytes }) => ({
          batchBytes: Math.min(bytes, batchBytes),
          readBatch: (previous) => readBatch(key, previous),
        })),
      )
      return { ...list, version: versionOf(all) }
    },

    version: async () => versionOf(await sizes()),

    watch: (id, callback) => changes.watch(id, callback),

    async size() {
      const memory = keyOfEachServer().map((key) =>
        call('read', key, { parts: ['INFO', 'memory'] }),
      )
      const [all, infos] = await Promise.all([sizes(), Promise.all(memory)])
      return {
        items: sum(all.map(({ items }) => items)),
        itemBytes: sum(all.map(({ bytes }) => bytes)),
        ...memoryIn(infos.map(({ value }) => String(value))),
      }
    },

    async clear() {
      await Promise.all(
        groups.map(([key = '', ...others]) =>
          call('change', key, { parts: ['UNLINK', key, ...others] }),
        ),
      )
      changes.made()
    },

    async healthy() {
      if (!engine.isReady) checked = never
      else if (performance.now() - checked.at > healthyFor) {
        const isHealthy = assertServes().then(
          () => true,
          () => false,
        )
        checked = { at: performance.now(), isHealthy }
      }
      return await checked.isHealthy
    },

    close() {
      changes.close()
      engine.close()
    },
  }
}

function groupsOf(keys: readonly string[], length: number): string[][] {
  const count = Math.ceil(keys.length / length)
  return Array.from({ length: count }, (_, place) =>
    keys.slice(place * length, (place + 1) * length),
  )
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
