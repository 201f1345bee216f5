/** Reads the state of buckets: how many bytes each has, and its version. @module */

import { hash } from 'node:crypto'
import { bytesField, type CorruptedKeys } from './bucket.js'
import type { Command, RedisReply, RedisValue } from './client.js'

/** The state of a bucket, from its field `bytes`. */
export interface BucketState {
  readonly key: string
  /** The field; `null` for a bucket without items. */
  readonly field: RedisValue
  /** Length of all texts. */
  readonly bytes: number
  /** A UUID; empty for a bucket without items. */
  readonly version: string
}

/** The states of all buckets while they were read. */
export interface AllBuckets {
  readonly states: readonly BucketState[]
  /** Changes with the version of any bucket, or with the items of a project. */
  readonly version: string
}

/** Sends commands that change nothing. @throws {StoreError} if one fails. */
export type Read = (commands: readonly Command[]) => Promise<readonly RedisReply[]>

interface BucketStatesOptions {
  readonly prefix: string
  /** The keys of all buckets. */
  readonly keys: readonly string[]
  readonly isCluster: boolean
  readonly corrupted: CorruptedKeys
  readonly read: Read
}

/** Number of buckets that one command or call reads: the server needs 0.24 ms for 1,024 of them. */
const portion = 1024
/** Time in which a server that has refused `SORT` is not asked again, in milliseconds. */
const refusedFor = 1000
/** Maximum length of a field `bytes` with its protocol, in bytes: 15 digits, a space and a UUID. */
const fieldBytes = 64

export type BucketStates = ReturnType<typeof createBucketStates>

export function createBucketStates(options: BucketStatesOptions) {
  const { keys, isCluster, corrupted, read } = options
  const readByOneCommand = createSortedRead(options)
  /** Buckets whose key did not exist when it was last checked. */
  const absent = new Set<string>()
  /** The states that were read last: most are the same the next time. */
  let last: AllBuckets = { states: [], version: '' }
  /** The read of all states that is not sent yet. */
  let next: Promise<AllBuckets> | undefined

  /** @throws {StoreError} if the field is not as the service writes it. */
  function stateIn(key: string, field: RedisValue): BucketState {
    if (field === null) return { key, field, bytes: 0, version: '' }
    absent.delete(key)
    const [, bytes, version] = /^(\d{1,15}) ([\w-]+)$/.exec(String(field)) ?? []
    if (version === undefined) throw corrupted.found(key)
    return { key, field, bytes: Number(bytes), version }
  }

  async function readFields(wanted: readonly string[]): Promise<RedisValue[]> {
    const commandOf = (key: string) => ({
      parts: ['HGET', key, bytesField],
      key,
      replyBytes: fieldBytes,
    })
    return (await read(wanted.map(commandOf))).map(({ value }) => value)
  }

  /** Returns the length of each hash, 0 if it does not exist. @throws {StoreError} */
  async function lengths(wanted: readonly string[]): Promise<number[]> {
    const commandOf = (key: string) => ({ parts: ['HLEN', key], key, replyBytes: 0 })
    return (await read(wanted.map(commandOf))).map(({ value }) => Number(value))
  }

  /**
   * Checks that keys without the field `bytes` do not exist.
   * @throws {StoreError} if one does, because another program has written it.
   */
  async function assertAbsent(missing: readonly string[]): Promise<void> {
    const found = await lengths(missing)
    const present = missing.filter((_, index) => found[index] !== 0)
    const fields = await readFields(present) // an item may have been created meanwhile
    for (const [index, key] of present.entries()) {
      if (fields[index] === null) throw corrupted.found(key)
    }
    for (const [index, key] of missing.entries()) if (found[index] === 0) absent.add(key)
  }

  /** @param known states that need not be parsed again, by index. */
  async function statesIn(
    fields: readonly RedisValue[],
    itsKeys: readonly string[],
    known: readonly BucketState[] = [],
  ): Promise<BucketState[]> {
    const states = itsKeys.map((key, index) => {
      const field = fields[index] ?? null
      const state = known[index]
      return state !== undefined && isSame(field, state.field) ? state : stateIn(key, field)
    })
    const missing = states.filter(({ key, field }) => field === null && !absent.has(key))
    if (missing.length > 0) await assertAbsent(missing.map(({ key }) => key))
    return states
  }

  /** Reads the states of some buckets. @throws {StoreError} */
  async function some(wanted: readonly string[]): Promise<BucketState[]> {
    return await statesIn(await readFields(wanted), wanted)
  }

  /** Reads all fields with a command for each, in portions to keep each piece of work short. */
  async function readEachField(): Promise<RedisValue[]> {
    const fields: RedisValue[] = []
    for (let start = 0; start < keys.length; start += portion) {
      for (const field of await readFields(keys.slice(start, start + portion))) fields.push(field)
    }
    return fields
  }

  async function readAll(): Promise<AllBuckets> {
    next = undefined
    // `SORT` takes a key of another kind for a bucket without items.
    const sorted = isCluster || corrupted.size > 0 ? undefined : await readByOneCommand()
    const states = await statesIn(sorted ?? (await readEachField()), keys, last.states)
    if (states.some((state, index) => state !== last.states[index])) {
      const versions = states.map(({ version }) => version).join()
      last = { states, version: hash('sha1', versions, 'base64url') }
    }
    return last
  }

  /** Reads the states of all buckets, in the order of their keys. Calls of one turn share it. @throws {StoreError} */
  async function all(): Promise<AllBuckets> {
    next ??= Promise.resolve().then(readAll)
    return await next
  }

  /** Checks some buckets again. @throws {StoreError} if another program has written to one of the keys. */
  async function check(wanted: readonly string[]): Promise<void> {
    for (const key of wanted) absent.delete(key)
    await some(wanted)
  }

  return { all, some, check, stateIn, lengths }
}

/**
 * Returns a function that reads the fields of all buckets, in their order, with one command for each portion.
 *
 * `SORT` is the only command that reads fields of several hashes. It needs a key with their numbers, a sorted set that
 * never changes. It may not read other keys in a cluster, or for a user without rights to all keys. The function then
 * resolves to `undefined`.
 */
function createSortedRead({ prefix, keys, read }: BucketStatesOptions) {
  const numbersKey = `${prefix}{numbers}`
  const pattern = `${prefix}{*}->${bytesField}`
  const sorts = Array.from({ length: Math.ceil(keys.length / portion) }, (_, index) => {
    const limit = ['LIMIT', String(index * portion), String(portion)]
    const parts = ['SORT', numbersKey, 'BY', 'nosort', ...limit, 'GET', pattern]
    return { parts, key: numbersKey, replyBytes: portion * fieldBytes }
  })
  const scores = keys.flatMap((_, number) => [String(number), String(number)])
  const addNumbers = { parts: ['ZADD', numbersKey, ...scores], key: numbersKey, replyBytes: 0 }
  /** Until this time, as `performance.now()` has it, the server is not asked. */
  let refusedUntil = prefix.includes('*') ? Number.POSITIVE_INFINITY : 0 // `*` stands for the number

  return async function readByOneCommand(): Promise<RedisValue[] | undefined> {
    if (performance.now() < refusedUntil) return undefined
    try {
      const replies = await read(sorts)
      const none: RedisValue[] = []
      const fields = none.concat(...replies.map(({ value }) => value))
      if (fields.length === keys.length) return fields
      await read([addNumbers])
    } catch {
      // The server may not take this command, or no writes. Reading each field shows any other cause.
      refusedUntil = performance.now() + refusedFor
    }
    return undefined
  }
}

function isSame(field: RedisValue, other: RedisValue | undefined): boolean {
  return (
    field === other || (Buffer.isBuffer(field) && Buffer.isBuffer(other) && field.equals(other))
  )
}

export function hasItems({ bytes }: BucketState): boolean {
  return bytes > 0
}
