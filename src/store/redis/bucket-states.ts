/** Reads the states of buckets: versions, and the number and total length of items. @module */

import { hash } from 'node:crypto'
import { StoreError } from '../item-store.js'
import { bytesField, type CorruptedKeys, projectField } from './bucket.js'
import {
  type Command,
  keyCommand,
  listIn,
  type RedisReply,
  type RedisValue,
  valid,
} from './client.js'

export interface BucketState {
  readonly key: string
  readonly bytes: number // of item texts
  readonly items: number
  /** Replaced by each change, and never reused; empty for a bucket that has never had items. */
  readonly version: string
}

interface Buckets {
  readonly states: readonly BucketState[]
  /** Digest of the versions of all buckets or, in the list of a project, of the project's version in each. */
  readonly version: string
}

/** Returns the replies, with a `StoreError` for each error reply, or for each command if there is no reply. */
type ReadEach = (commands: readonly Command[]) => Promise<readonly (RedisReply | StoreError)[]>

type Values = readonly (RedisValue | StoreError)[]
type Fields = readonly RedisValue[]

export type Read = (commands: readonly Command[]) => Promise<readonly RedisReply[]>

/** Maximum number of buckets to read at once. This takes up to 0.24 ms for `bytes` fields, 2 ms for items. */
export const portion = 1024
const refusedFor = 1000 // ms until the next `SORT` after the server has refused one
const checkedFor = 1000 // ms until the numbers in the sorted set are checked again
/** Maximum length in bytes of a value that is not an item. */
export const fieldBytes = 64

const versionPattern = String.raw`(\d{1,15}-[\da-f]+)$`
const bytesPattern = new RegExp(String.raw`^(\d{1,15}) (\d{1,15}) ${versionPattern}`)
const projectPattern = new RegExp(String.raw`^(\d{1,15}) ${versionPattern}`)

/** True for the field of a project with its number of items and version. */
export function isProject(name: string, value: Buffer): boolean {
  return name.startsWith(projectField('')) && projectPattern.test(value.toString('latin1'))
}

/** Returns the time in a version, which each change increases; 0 for an empty version, NaN for `undefined`. */
export function timeOf(version: string | undefined): number {
  return version === '' ? 0 : Number.parseInt(version ?? '', 10)
}

export type BucketStates = ReturnType<typeof createBucketStates>

export function createBucketStates(
  prefix: string,
  keys: readonly string[],
  corrupted: CorruptedKeys,
  isCluster: boolean,
  readEach: ReadEach,
) {
  const readSorted = createSortedRead(prefix, keys, readEach)
  let last: Buckets = { states: [], version: '' }
  /**
   * Values of the `bytes` fields when `last` was read. All are in one buffer, so that comparing them with new ones
   * takes few cache lines.
   */
  let lastFields: Fields = []
  let next: Promise<Buckets> | undefined // read of all states, shared by all calls in this turn of the event loop

  function stateIn(key: string, field: RedisValue): BucketState {
    if (field === null) return { key, bytes: 0, items: 0, version: '' }
    const [, bytes, items, version] = bytesPattern.exec(String(field)) ?? []
    if (version === undefined) throw corrupted.report(key)
    return { key, bytes: Number(bytes), items: Number(items), version }
  }

  async function valuesOf(wanted: readonly string[], names: readonly string[]): Promise<Values> {
    // While a key is corrupted, uses `HMGET`: it fails for a key that is not a hash, but `SORT` doesn't.
    const canSort = wanted === keys && !isCluster && corrupted.size === 0
    const sorted = canSort ? await readSorted(names) : undefined
    if (sorted !== undefined) return sorted
    const values: (RedisValue | StoreError)[] = []
    for (let start = 0; start < wanted.length; start += portion) {
      const some = wanted.slice(start, start + portion)
      const commands = some.map((key) =>
        keyCommand(['HMGET', key, ...names], names.length * fieldBytes),
      )
      for (const reply of await readEach(commands)) {
        values.push(...(reply instanceof StoreError ? names.map(() => reply) : listIn(reply.value)))
      }
    }
    return values
  }

  async function fields(): Promise<Fields> {
    return (await valuesOf(keys, [bytesField])).map(valid)
  }

  /** @throws {StoreError} if one of the keys exists, because another program has then written it. */
  async function assertAbsent(missing: readonly string[]): Promise<void> {
    const lengths = await readEach(missing.map((key) => keyCommand(['HLEN', key], 0)))
    const present = missing.filter((_, index) => valid(lengths[index])?.value !== 0)
    const values = await valuesOf(present, [bytesField]) // an item may have been created since the first read
    const foreign = present.find((_, index) => valid(values[index]) === null)
    if (foreign !== undefined) throw corrupted.report(foreign)
  }

  /** Returns the states of all buckets: the array `known` if no field has changed. @throws {StoreError} */
  async function statesOf(fields: Fields, known: readonly BucketState[] = []) {
    let states: BucketState[] | undefined
    const missing: string[] = []
    for (const [index, key] of keys.entries()) {
      const field = fields[index] ?? null
      if (index < known.length && isSame(field, lastFields[index])) continue
      states ??= [...known]
      states[index] = stateIn(key, field)
      if (field === null) missing.push(key)
    }
    if (missing.length > 0) await assertAbsent(missing)
    return states ?? known
  }

  function all(): Promise<Buckets> {
    next ??= Promise.resolve().then(async () => {
      next = undefined
      const read = await fields()
      const states = await statesOf(read, last.states)
      lastFields = read
      if (states !== last.states) {
        last = { states, version: digestOf(states.map(({ version }) => version)) }
      }
      return last
    })
    return next
  }

  /** Returns a project's version, and the states of the buckets that have items of it. */
  async function ofProject(project: string): Promise<Buckets> {
    const name = projectField(project)
    const values = await valuesOf(keys, [bytesField, name])
    const states: BucketState[] = []
    const versions = keys.map((key, index) => {
      const own = valid(values[2 * index + 1]) ?? null
      if (own === null) return ''
      const [, count, version] = projectPattern.exec(String(own)) ?? []
      if (version === undefined) throw corrupted.report(key, Buffer.from(name))
      if (count !== '0') states.push(stateIn(key, valid(values[2 * index]) ?? null))
      return version
    })
    return { states, version: digestOf(versions) }
  }

  return {
    of: (project?: string) => (project === undefined ? all() : ofProject(project)),
    stateIn,

    /** Returns a bucket's state from the latest read of all buckets. */
    latest: (number: number) => last.states[number],

    /** Returns the versions of buckets; `undefined` for those that cannot be read. @throws {StoreError} */
    async versionsOf(wanted: readonly string[]): Promise<(string | undefined)[]> {
      const values = await valuesOf(wanted, [bytesField])
      return values.map((value) =>
        value instanceof StoreError
          ? undefined
          : String(value ?? '')
              .split(' ')
              .at(-1),
      )
    },

    /** Checks that no other program has written to the buckets. @throws {StoreError} */
    check: async () => statesOf(await fields()),
  }
}

/** Returns a function that reads all buckets with `SORT`. It returns `undefined` if the server refuses. */
function createSortedRead(prefix: string, keys: readonly string[], readEach: ReadEach) {
  const numbersKey = `${prefix}{numbers}`
  const numbers = keys.map((_, number) => Buffer.from(String(number)))
  const addNumbers = keyCommand(['ZADD', numbersKey, ...numbers.flatMap((each) => [each, each])], 0)
  let refusedUntil = prefix.includes('*') ? Number.POSITIVE_INFINITY : 0 // `SORT` replaces the first `*` of a pattern

  let checkedUntil = 0 // the numbers in the sorted set count as right until then

  async function read(patterns: readonly string[]): Promise<readonly RedisValue[]> {
    const commands = Array.from({ length: Math.ceil(keys.length / portion) }, (_, n) => {
      const [start, count] = [n * portion, Math.min(portion, keys.length - n * portion)]
      const limit = ['LIMIT', String(start), String(count)] // ignores further numbers
      const gets = patterns.flatMap((pattern) => ['GET', pattern])
      const replyBytes = portion * patterns.length * fieldBytes
      return keyCommand(['SORT', numbersKey, 'BY', 'nosort', ...limit, ...gets], replyBytes)
    })
    const [first = [], ...others] = (await readEach(commands)).map((reply) =>
      listIn(valid(reply).value),
    )
    return first.concat(...others) // `flatMap` takes 60 µs for 256 values
  }

  return async function readSorted(names: readonly string[]): Promise<Values | undefined> {
    const now = performance.now()
    if (now < refusedUntil) return undefined
    try {
      if (now >= checkedUntil) {
        const found = await read(['#'])
        const isWhole = numbers.every((number, index) => isSame(number, found[index]))
        if (isWhole) checkedUntil = now + checkedFor
        else await readEach([addNumbers]) // another program has changed the numbers, or there are none yet
      }
      const values = await read(names.map((name) => `${prefix}{*}->${name}`))
      if (now < checkedUntil && values.length === keys.length * names.length) return values
    } catch {
      // The server may refuse `SORT` or writes. After any other error, `HMGET` fails too, and its error is reported.
      refusedUntil = performance.now() + refusedFor
    }
    return undefined
  }
}

function digestOf(versions: readonly string[]): string {
  return hash('sha1', versions.join(), 'base64url')
}

/** Compares in JavaScript, because calling `equals` takes longer for so few bytes. */
function isSame(field: RedisValue, other: RedisValue | undefined): boolean {
  if (!Buffer.isBuffer(field) || !Buffer.isBuffer(other)) return field === other
  let place = field.length - 1
  if (place !== other.length - 1) return false
  while (place >= 0 && field[place] === other[place]) place -= 1
  return place < 0
}
