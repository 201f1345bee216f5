/**
 * Items on a Redis or Valkey server (docs/reference/redis.md): in a fixed number of hashes, the buckets. The id of an
 * item picks its bucket.
 *
 * @module
 */

import { hash, randomUUID } from 'node:crypto'
import type { ItemId } from '../../item/id.js'
import { type EncodedItem, projectFilter, projectOf } from '../../item/item.js'
import {
  type ChangeOutcome,
  type ItemStore,
  StoreError,
  StoreMismatchError,
} from '../item-store.js'
import { clusterAddress, sentinelAddress } from './address.js'
import {
  CorruptedKeys,
  createScript,
  deleteScript,
  isItem,
  outcomes,
  probeScript,
  readShortScript,
  replaceScript,
  type Script,
} from './bucket.js'
import { createBucketStates, hasItems } from './bucket-states.js'
import { Changes } from './changes.js'
import { type Command, memoryIn, type OnCheck, type RedisReply, type Servers } from './client.js'
import { Cluster, type ClusterOptions } from './cluster.js'
import { RedisConnection } from './connection.js'
import { errorCodeOf, type Purpose, ReachabilityLog, storeError, unexpectedData } from './errors.js'
import { Traffic } from './in-flight.js'
import { createBucketTexts, listOf, openList } from './list.js'
import { createProjects } from './projects.js'
import { bucketsByDefault, StoreRecord } from './record.js'
import { WatchedPrimary } from './watched-primary.js'

export interface RedisStoreOptions extends Omit<ClusterOptions, 'traffic'> {
  /** As in `STORE_URL`. */
  readonly url: string
  /** Prefix of the keys, without braces: the text in braces picks the slot of a cluster. */
  readonly prefix: string
  /** Number of buckets, a power of two: all stores with the same prefix have the same. */
  readonly buckets?: number
  /** Bytes of items to ask the server for at a time. */
  readonly batchBytes?: number
  /** Maximum memory for cached texts, in bytes. */
  readonly maxCachedBytes?: number
}

/** Namespace of the ids that follow from an `Idempotency-Key`: the same for all services. */
const namespace = '6ab91c7c-0ff1-4a29-8c53-5d47a2e4a6f1'

/** Time for which the result of a health check is used again, in milliseconds: anyone may ask at any rate. */
const healthyFor = 1000

/**
 * @returns once the first attempt to connect has succeeded or failed; there will be others.
 * @throws {StoreMismatchError} if the store has another number of buckets, or another format.
 */
export async function openRedisStore(options: RedisStoreOptions): Promise<ItemStore> {
  const { prefix, buckets: count = bucketsByDefault, url, timeout, log } = options
  const { batchBytes = 128 * 1024, maxCachedBytes = 64 * 1024 * 1024 } = options
  const keys = Array.from({ length: count }, (_, number) => `${prefix}{${number}}`)
  const traffic = new Traffic()
  const onCheck: OnCheck = (send) => record.readAgain(send)
  const servers = openServers(url, { timeout, log, traffic, onCheck }, () => record.forget())
  const record = new StoreRecord({ prefix, keys, log, servers })
  await servers.firstAttempt
  await record.compare(true).catch((error) => {
    if (!(error instanceof StoreMismatchError)) return // the health check tells
    servers.close()
    throw error
  })
  const never = { at: Number.NEGATIVE_INFINITY, isHealthy: Promise.resolve(false) }
  let checked = never
  const corrupted = new CorruptedKeys()
  const isCluster = servers.serverOf !== undefined
  const states = createBucketStates({ prefix, keys, isCluster, corrupted, readAll })
  const texts = createBucketTexts({ states, corrupted, batchBytes, maxCachedBytes, readAll })
  const projects = createProjects(states, texts)
  const changes = new Changes({
    keyOf,
    versionsOfProjects: projects.versions,
    async versionsOf(wanted) {
      const read = wanted ? await states.some([...wanted]) : (await states.all()).states
      return new Map(read.map(({ key, version }) => [key, version]))
    },
  })

  /**
   * Sends one command.
   * @param withText the command with the text of its script, for a server that does not know the script.
   * @throws {StoreError}
   */
  async function send(
    purpose: Purpose,
    key: string,
    command: Command,
    withText?: Command,
  ): Promise<RedisReply> {
    if (!record.isMatched) await record.assure(key, purpose)
    try {
      const reply = await servers.send(command, key)
      if (record.mismatch) throw record.mismatch // found after the command was sent
      return reply
    } catch (error) {
      // A restarted server does not know the script, and has done nothing.
      if (errorCodeOf(error) === 'NOSCRIPT' && withText) return await send(purpose, key, withText)
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
    const replies = await servers.sendTogether(commands, itsKeys).catch((error) => {
      throw storeError(error, 'read')
    })
    if (record.mismatch) throw storeError(record.mismatch, 'read')
    return replies.map((reply, index) => {
      if (reply instanceof Error) throw failure(reply, 'read', itsKeys[index] ?? '')
      return reply
    })
  }

  function failure(error: unknown, purpose: Purpose, key: string): StoreError {
    const code = errorCodeOf(error)
    if (code === 'WRONGTYPE' || code === unexpectedData) corrupted.add(key)
    return storeError(error, purpose)
  }

  function runScript(
    purpose: Purpose,
    { digest, text, replyBytes }: Script,
    key: string,
    ...args: (string | Buffer)[]
  ): Promise<RedisReply> {
    const rest = ['1', key, ...args]
    const command = { parts: ['EVALSHA', digest, ...rest], replyBytes }
    const withText = { parts: ['EVAL', text, ...rest], replyBytes }
    return send(purpose, key, command, withText)
  }

  function keyOf(id: ItemId): string {
    return keys[Number.parseInt(id.slice(0, 4), 16) % count] as string // each remainder has one
  }

  /**
   * Runs a script on the bucket of an item.
   * @param expected the text that the item must have, if it must have one.
   */
  async function change(
    script: Script,
    id: ItemId,
    item: EncodedItem | '',
    expected?: EncodedItem,
  ): Promise<ChangeOutcome> {
    const digest = expected === undefined ? '' : hash('sha1', expected)
    const args = [id, randomUUID(), item, digest]
    const { value } = await runScript('change', script, keyOf(id), ...args).catch((error) => {
      if (error instanceof StoreError && error.isOutcomeUnknown) traffic.unknownOutcomes += 1
      throw error
    })
    const outcome = outcomes[value as keyof typeof outcomes] // as the scripts reply
    if (outcome === 'done') changes.made(id, item === '' ? undefined : projectOf(item))
    return outcome
  }

  /** Returns one key of each server. */
  function keyOfEachServer(): string[] {
    return [...new Map(keys.map((key) => [servers.serverOf?.(key), key])).values()]
  }

  /** Tries the commands of the store once on each server, and on corrupted keys. @throws {Error} if one fails. */
  async function assertServes(): Promise<void> {
    await record.compare()
    const probed = [...new Set([...keyOfEachServer(), ...corrupted.keys])]
    const probes = probed.map((key) => {
      const read = async (field: Buffer) =>
        (await send('read', key, { parts: ['HGET', key, field] })).value
      const probe = async () => {
        await send('change', key, {
          parts: ['EVAL', probeScript.text, '1', key, ''],
          replyBytes: 0,
        })
        await runScript('read', readShortScript, key, '') // uses EVALSHA
      }
      return corrupted.check(key, read, probe)
    })
    await Promise.all([...probes, states.check(isCluster ? probed : keys)])
  }

  return {
    guarantees: { isSnapshot: false, isInOrder: false },

    traffic,

    namespace,

    create: async (id, item) => (await change(createScript, id, item)) === 'done',

    async read(id) {
      const key = keyOf(id)
      const parts = ['HGET', key, id]
      // Most reads need no script, which takes the server 2.2 µs instead of 0.7.
      let { value } = await (servers.hasRoom(key)
        ? send('read', key, { parts })
        : runScript('read', readShortScript, key, id))
      if (typeof value === 'number') {
        ;({ value } = await send('read', key, { parts, replyBytes: value }))
      }
      if (value === null) return undefined
      if (!isItem(id, value as Buffer)) throw corrupted.found(key, Buffer.from(id)) // a field is bytes
      return value as EncodedItem // just checked
    },

    replace: (id, item, expected) => change(replaceScript, id, item, expected),

    delete: (id, expected) => change(deleteScript, id, '', expected),

    async list(project) {
      const own = project === undefined ? undefined : await projects.read(project)
      if (project !== undefined && own !== undefined) changes.saw(project, own.version)
      if (own?.texts !== undefined) return listOf(own.texts, own.version)
      const { states: all, version } = await states.all()
      const isWanted = project === undefined ? undefined : projectFilter(project)
      return { ...(await openList(all.filter(hasItems), texts, isWanted)), version }
    },

    async version(project) {
      if (project === undefined) return (await states.all()).version
      const version = (await projects.versions([project])).get(project) as string // it was asked for
      changes.saw(project, version)
      return version
    },

    watch: (watched, callback) => changes.watch(watched, callback),

    async size() {
      const memory = keyOfEachServer().map((key) =>
        send('read', key, { parts: ['INFO', 'memory'] }),
      )
      const [{ states: all }, infos] = await Promise.all([states.all(), Promise.all(memory)])
      const lengths = await states.lengths(all.filter(hasItems).map(({ key }) => key))
      return {
        items: lengths.reduce((sum, length) => sum + Math.max(0, length - 1), 0),
        itemBytes: all.reduce((sum, { bytes }) => sum + bytes, 0),
        ...memoryIn(infos.map(({ value }) => String(value))),
      }
    },

    async healthy() {
      if (!servers.isReady) checked = never
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
      servers.close()
    },
  }
}

/**
 * Connects to one server, the primary that sentinels name, or a cluster.
 * @param onLost called when the connection to a single server is lost or cannot be made.
 */
function openServers(url: string, options: ClusterOptions, onLost: () => void): Servers {
  const cluster = clusterAddress(url)
  if (cluster !== undefined) return new Cluster(cluster, options)
  const log = new ReachabilityLog(options.log)
  const reachability = {
    lost(error: unknown) {
      log.lost(error)
      onLost()
    },
    found: () => log.found(),
  }
  const sentinels = sentinelAddress(url)
  if (sentinels !== undefined) return new WatchedPrimary(sentinels, { ...options, reachability })
  return new RedisConnection({ url: () => url, isClusterNode: false, reachability, ...options })
}
