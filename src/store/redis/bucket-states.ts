/** Reads the states of buckets: each bucket's version, and the total length of its item texts. @module */

import { hash } from 'node:crypto'
import { bytesField, type CorruptedKeys } from './bucket.js'
import { type Command, keyCommand, type RedisReply, type RedisValue } from './client.js'

export interface BucketState {
  readonly key: string
  /** Value of the bucket's `bytes` field in Redis; `null` for a bucket without items. */
  readonly field: RedisValue
  /** Total length of the bucket's item texts, in bytes. */
  readonly bytes: number
  /** A UUID that is replaced with each change to the bucket; empty for a bucket without items. */
  readonly version: string
}

export interface AllBuckets {
  readonly states: readonly BucketState[]
  /** Digest of the versions of all buckets; for a list of one project, digest of the project's items. */
  readonly version: string
}

export type Read = (commands: readonly Command[]) => Promise<readonly RedisReply[]>

/** Maximum number of buckets to read at once. Reading takes up to 0.24 ms for `bytes` fields, and 2 ms for items. */
export const portion = 1024
/** Pause before the next `SORT` after the server has refused a `SORT`, in milliseconds. */
const refusedFor = 1000
/** Maximum length of a reply with the `bytes` field, in bytes. */
const fieldBytes = 64

export type BucketStates = ReturnType<typeof createBucketStates>

export function createBucketStates(
  prefix: string,
  keys: readonly string[],
  corrupted: CorruptedKeys,
  isCluster: boolean,
  read: Read,
) {
  const readSorted = createSortedRead(prefix, keys, read)
  const absent = new Set<string>()
  let last: AllBuckets = { states: [], version: '' }
  /** The next read of all bucket states, shared by all calls in this turn of the event loop. */
  let next: Promise<AllBuckets> | undefined

  function stateIn(key: string, field: RedisValue): BucketState {
    if (field === null) return { key, field, bytes: 0, version: '' }
    absent.delete(key)
    const [, bytes, version] = /^(\d{1,15}) ([\w-]+)$/.exec(String(field)) ?? []
    if (version === undefined) throw corrupted.found(key)
    return { key, field, bytes: Number(bytes), version }
  }

  async function readFields(wanted: readonly string[]): Promise<RedisValue[]> {
    const commands = wanted.map((key) => keyCommand(['HGET', key, bytesField], fieldBytes))
    const fields: RedisValue[] = []
    for (let start = 0; start < commands.length; start += portion) {
      const replies = await read(commands.slice(start, start + portion))
      for (const { value } of replies) fields.push(value)
    }
    return fields
  }

  /** Returns the number of fields in each Redis hash; 0 for a missing hash. @throws {StoreError} */
  async function lengths(wanted: readonly string[]): Promise<number[]> {
    const replies = await read(wanted.map((key) => keyCommand(['HLEN', key], 0)))
    return replies.map(({ value }) => Number(value))
  }

  /** @throws {StoreError} if one of the keys exists, which means that another program has written it. */
  async function assertAbsent(missing: readonly string[]): Promise<void> {
    const found = await lengths(missing)
    const present = missing.filter((_, index) => found[index] !== 0)
    const fields = await readFields(present) // an item may have been created since the first read
    const foreign = present.find((_, index) => fields[index] === null)
    if (foreign !== undefined) throw corrupted.found(foreign)
    for (const [index, key] of missing.entries()) if (found[index] === 0) absent.add(key)
  }

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

  async function some(wanted: readonly string[]): Promise<BucketState[]> {
    return await statesIn(await readFields(wanted), wanted)
  }

  function all(): Promise<AllBuckets> {
    next ??= Promise.resolve().then(async () => {
      next = undefined
      // `HGET` fails for a key that is not a hash, and so detects corrupted keys. `SORT` does not fail.
      const sorted = isCluster || corrupted.size > 0 ? undefined : await readSorted()
      const states = await statesIn(sorted ?? (await readFields(keys)), keys, last.states)
      if (states.some((state, index) => state !== last.states[index])) {
        const versions = states.map(({ version }) => version).join()
        last = { states, version: hash('sha1', versions, 'base64url') }
      }
      return last
    })
    return next
  }

  async function check(wanted: readonly string[]): Promise<void> {
    for (const key of wanted) absent.delete(key)
    await some(wanted)
  }

  return { all, some, check, stateIn, lengths }
}

/** Creates a function that reads all `bytes` fields with `SORT`, and returns `undefined` if the server refuses. */
function createSortedRead(prefix: string, keys: readonly string[], read: Read) {
  const numbersKey = `${prefix}{numbers}`
  const pattern = `${prefix}{*}->${bytesField}`
  const sorts = Array.from({ length: Math.ceil(keys.length / portion) }, (_, index) => {
    const limit = ['LIMIT', String(index * portion), String(portion)]
    const replyBytes = portion * fieldBytes
    return keyCommand(['SORT', numbersKey, 'BY', 'nosort', ...limit, 'GET', pattern], replyBytes)
  })
  const scores = keys.flatMap((_, number) => [String(number), String(number)])
  const addNumbers = keyCommand(['ZADD', numbersKey, ...scores], 0)
  /** Time, as a value of `performance.now()`, before which no `SORT` is sent. */
  let refusedUntil = prefix.includes('*') ? Number.POSITIVE_INFINITY : 0 // `SORT` replaces the first `*` of a pattern

  return async function readSorted(): Promise<RedisValue[] | undefined> {
    if (performance.now() < refusedUntil) return undefined
    try {
      const replies = await read(sorts)
      const fields = replies.flatMap<RedisValue>(({ value }) => value)
      if (fields.length === keys.length) return fields
      await read([addNumbers])
    } catch {
      // Ignored: the server may refuse `SORT` or writes. Any other error occurs again when each field is read.
      refusedUntil = performance.now() + refusedFor
    }
    return undefined
  }
}

function isSame(field: RedisValue, other: RedisValue | undefined): boolean {
  if (Buffer.isBuffer(field) && Buffer.isBuffer(other)) return field.equals(other)
  return field === other
}
