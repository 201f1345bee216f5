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
import { type BucketState, createBuckets } from './buckets.js'
import { Changes } from './changes.js'
import type { Command, RedisReply } from './client.js'
import type { ClusterOptions } from './cluster.js'
import { openEngine } from './engine.js'
import { errorCodeOf, type Purpose, storeError } from './errors.js'
import { isItem } from './item-fields.js'
import { openList } from './list.js'
import { memoryIn } from './memory.js'
import { bucketsByDefault, StoreRecord } from './record.js'
import {
  createScript,
  deleteScript,
  outcomes,
  probeScript,
  readShortScript,
  replaceScript,
  type Script,
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
  /** Memory for texts that lists need again, in bytes. */
  readonly maxKeptBytes?: number
}

/** Ids that follow from keys are the same for all services, now and later. */
const namespace = '6ab91c7c-0ff1-4a29-8c53-5d47a2e4a6f1'

/** How long the result of a health check is used again, in milliseconds: anyone may ask, at any rate. */
const healthyFor = 1000

/**
 * @returns once the first attempt to connect has succeeded or failed; there will be others.
 * @throws {StoreMismatchError} if the store has another number of buckets, or another format.
 */
export async function openRedisStore(options: RedisStoreOptions): Promise<ItemStore> {
  const { prefix, buckets: count = bucketsByDefault, url, timeout, log } = options
  const { batchBytes = 128 * 1024, maxKeptBytes = 64 * 1024 * 1024 } = options
  const keys = Array.from({ length: count }, (_, number) => `${prefix}{${number}}`)
  const traffic = new Traffic()
  const engine = openEngine({
    ...{ url, timeout, log, traffic },
    onLost: () => record.forget(),
    onCheck: (send) => record.readAgain(send),
  })
  const record = new StoreRecord({ prefix, keys, log, engine })
  await engine.firstAttempt
  await record.compare(true).catch((error) => {
    if (!(error instanceof StoreMismatchError)) return // the health check tells
    engine.close()
    throw error
  })
  const never = { at: Number.NEGATIVE_INFINITY, isHealthy: Promise.resolve(false) }
  let checked = never
  const suspects = new Suspects()
  const isCluster = engine.serverOf !== undefined
  const buckets = createBuckets({
    ...{ prefix, keys, isCluster, batchBytes, maxKeptBytes, suspects, readAll },
  })
  const changes = new Changes({
    keyOf,
    async versionsOf(wanted) {
      const states = wanted ? await buckets.some([...wanted]) : (await buckets.all()).states
      return new Map(states.map(({ key, version }) => [key, version]))
    },
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
    if (!record.isMatched) await record.assure(key, purpose)
    try {
      const reply = await engine.send(command, key)
      if (record.mismatch) throw record.mismatch // found since the command was sent
      return reply
    } catch (error) {
      // The engine forgets scripts when it is started again; nothing has been done then.
      if (errorCodeOf(error) === 'NOSCRIPT' && withText) return await call(purpose, key, withText)
      throw failure(error, purpose, key)
    }
  }

  /** Sends commands that change nothing, as one call to each server. @throws {StoreError} if one fails. */
  async function readAll(
    commands: readonly Command[],
    itsKeys: readonly string[],
  ): Promise<RedisReply[]> {
    if (commands.length === 0) return []
    if (!record.isMatched) await record.assure(itsKeys[0] ?? '', 'read')
    const replies = await engine.sendTogether(commands, itsKeys).catch((error) => {
      throw storeError(error, 'read')
    })
    if (record.mismatch) throw storeError(record.mismatch, 'read')
    return replies.map((reply, place) => {
      if (reply instanceof Error) throw failure(reply, 'read', itsKeys[place] ?? '')
      return reply
    })
  }

  function failure(error: unknown, purpose: Purpose, key: string): StoreError {
    const code = errorCodeOf(error)
    if (code === 'WRONGTYPE' || code === unexpectedData) suspects.add(key)
    return storeError(error, purpose)
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
    return keys[Number.parseInt(id.slice(0, 4), 16) % count] as string // each remainder has one
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

  /** One key of each server. */
  function keyOfEachServer(): string[] {
    return [...new Map(keys.map((key) => [engine.serverOf?.(key), key])).values()]
  }

  /** Tries whatever items are read and changed with: once on each server, and where data is suspect. */
  async function assertServes(): Promise<void> {
    await record.compare()
    const probed = new Set([...keyOfEachServer(), ...suspects.keys])
    const probes = [...probed].map((key) => {
      const read = async (field: Buffer) =>
        (await call('read', key, { parts: ['HGET', key, field] })).value
      const probe = async () => {
        await call('change', key, {
          parts: ['EVAL', probeScript.text, '1', key, ''],
          replyBytes: 0,
        })
        await run('read', readShortScript, [key], '') // other scripts are not sent as text either
      }
      return suspects.check(key, read, probe)
    })
    await Promise.all([...probes, buckets.check(isCluster ? [...probed] : keys)])
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
      const { states, version } = await buckets.all()
      return { ...(await openList(states.filter(isFilled), buckets)), version }
    },

    version: async () => (await buckets.all()).version,

    watch: (id, callback) => changes.watch(id, callback),

    async size() {
      const memory = keyOfEachServer().map((key) =>
        call('read', key, { parts: ['INFO', 'memory'] }),
      )
      const [{ states }, infos] = await Promise.all([buckets.all(), Promise.all(memory)])
      return {
        items: await buckets.count(states.filter(isFilled)),
        itemBytes: states.reduce((sum, { bytes }) => sum + bytes, 0),
        ...memoryIn(infos.map(({ value }) => String(value))),
      }
    },

    async clear() {
      const unlink = (key: string) => call('change', key, { parts: ['UNLINK', key], replyBytes: 0 })
      await Promise.all(keys.map(unlink))
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

function isFilled({ bytes }: BucketState): boolean {
  return bytes > 0
}
