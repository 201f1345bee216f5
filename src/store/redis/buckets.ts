/**
 * Reads buckets: the version of each, and its texts.
 *
 * A bucket that fits into a batch is read with one command, as it was at one instant. Its text is kept under the
 * version that came in the same reply.
 *
 * @module
 */

import { hash } from 'node:crypto'
import { countAtOnce, createBucketFields, fieldBytes } from './bucket-fields.js'
import type { Command, RedisReply, RedisValue } from './client.js'
import { bytesIn, joined, textsIn, unexpectedFieldIn } from './item-fields.js'
import { KeptTexts } from './kept-texts.js'
import { bytesField } from './scripts.js'
import type { Suspects } from './suspects.js'

/** A bucket as its field `bytes` has it. */
export interface BucketState {
  readonly key: string
  /** Length of all texts. */
  readonly bytes: number
  /** A UUID; empty for a bucket without items, or without a version as earlier services left them. */
  readonly version: string
}

/** A part of a bucket that is too long to be read at once. */
export interface Batch {
  /** Fields and their texts in turn. */
  readonly entries: readonly Buffer[]
  /** Where the next batch begins; `firstCursor` after the last one. */
  readonly cursor: string
  /** Number of items that the next batch is asked for. */
  readonly count: number
  /** Stands for the process of the server that the cursor means something to. */
  readonly client: object
}

const firstCursor = '0'

/** Length that the text of an item has at least, in bytes: `{"id":"…"}`. */
const minTextBytes = 45
/** Length of a reply about a bucket besides texts and fields, in bytes. */
const shortReply = 1024

export interface BucketsOptions {
  readonly prefix: string
  /** The keys of all buckets. */
  readonly keys: readonly string[]
  readonly isCluster: boolean
  /** Bytes of items that the server is asked for at a time. */
  readonly batchBytes: number
  /** Memory for texts that are kept, in bytes. */
  readonly maxKeptBytes: number
  readonly suspects: Suspects
  /** Sends commands that change nothing, each with its key. @throws {StoreError} if one fails. */
  readonly readAll: (
    commands: readonly Command[],
    keys: readonly string[],
  ) => Promise<readonly RedisReply[]>
}

/** All buckets as they were while they were read. */
export interface AllBuckets {
  readonly states: readonly BucketState[]
  /** One version of all of them. */
  readonly version: string
}

export type Buckets = ReturnType<typeof createBuckets>

export function createBuckets(options: BucketsOptions) {
  const { prefix, keys, isCluster, batchBytes, maxKeptBytes, suspects, readAll } = options
  const fieldCommands = keys.map(fieldCommand)
  const keptTexts = new KeptTexts(maxKeptBytes)
  /** Buckets whose key did not exist when it was last looked at. */
  const absent = new Set<string>()
  /** As they were read last: most are the same the next time. */
  let last: { fields: readonly RedisValue[]; buckets: AllBuckets } = {
    fields: [],
    buckets: { states: [], version: '' },
  }
  const readFields = createBucketFields({
    prefix,
    count: keys.length,
    send: async (commands, key) =>
      (await readAll(commands, Array(commands.length).fill(key))).map(({ value }) => value),
  })

  /** Reads something of each key, all in one call. */
  async function ofEach(
    wanted: readonly string[],
    commandFor: (key: string) => Command,
  ): Promise<RedisValue[]> {
    return (await readAll(wanted.map(commandFor), wanted)).map(({ value }) => value)
  }

  function stateIn(key: string, field: RedisValue): BucketState {
    if (field === null) return { key, bytes: 0, version: '' }
    absent.delete(key)
    const [bytes = '', version = '', rest] = String(field).split(' ')
    if (!/^\d{1,15}$/.test(bytes) || rest !== undefined) throw suspects.unexpected(key)
    return { key, bytes: Number(bytes), version }
  }

  /**
   * Makes sure that keys without the field do not exist, rather than have been written by another program.
   * @throws {StoreError} if one does.
   */
  async function assertAbsent(missing: readonly string[]): Promise<void> {
    const lengths = await ofEach(missing, lengthCommand)
    const present = missing.filter((_, place) => lengths[place] !== 0)
    const fields = await ofEach(present, fieldCommand) // may have been created meanwhile
    for (const [place, key] of present.entries()) {
      if (fields[place] === null) throw suspects.unexpected(key)
    }
    for (const [place, key] of missing.entries()) if (lengths[place] === 0) absent.add(key)
  }

  /** The fields of all buckets, in portions, as no more than that may be done at a time. */
  async function oneByOne(): Promise<RedisValue[]> {
    const fields: RedisValue[] = []
    for (let place = 0; place < keys.length; place += countAtOnce) {
      const part = fieldCommands.slice(place, place + countAtOnce)
      const replies = await readAll(part, keys.slice(place, place + countAtOnce))
      for (const { value } of replies) fields.push(value)
    }
    return fields
  }

  /** The states in these fields, which the keys have. @throws {StoreError} */
  async function statesIn(
    fields: readonly RedisValue[],
    itsKeys: readonly string[],
  ): Promise<BucketState[]> {
    const states = itsKeys.map((key, place) => stateIn(key, fields[place] ?? null))
    await assertAbsent(itsKeys.filter((key, place) => fields[place] === null && !absent.has(key)))
    return states
  }

  /** Reads the states of some buckets. @throws {StoreError} */
  async function some(wanted: readonly string[]): Promise<BucketState[]> {
    return await statesIn(await ofEach(wanted, fieldCommand), wanted)
  }

  /** Reads the states of all buckets, in the order of their keys. @throws {StoreError} */
  async function all(): Promise<AllBuckets> {
    const together = isCluster || !suspects.isEmpty ? undefined : await readFields()
    const fields = together ?? (await oneByOne())
    if (fields.every((field, place) => isSame(field, last.fields[place]))) return last.buckets
    const states = await statesIn(fields, keys)
    const versions = states.map(({ version }) => version).join()
    last = { fields, buckets: { states, version: hash('sha1', versions, 'base64url') } }
    return last.buckets
  }

  /** Looks at some buckets anew. @throws {StoreError} if another program has written to one of the keys. */
  async function check(wanted: readonly string[]): Promise<void> {
    for (const key of wanted) absent.delete(key)
    await some(wanted)
  }

  function batchIn(key: string, count: number, { value, client }: RedisReply): Batch {
    const [cursor, entries] = value as [Buffer, Buffer[]] // as HSCAN answers
    const field = unexpectedFieldIn(entries)
    if (field !== undefined) throw suspects.unexpected(key, field)
    return { entries, cursor: cursor.toString(), count, client }
  }

  /** The text of a bucket that a batch has all of, for now and for later lists. */
  function wholeText(key: string, { entries }: Batch): Buffer {
    const field = bytesIn(entries)
    if (field === undefined && entries.length > 0) throw suspects.unexpected(key)
    const { version } = stateIn(key, field ?? null)
    const text = joined(textsIn(entries))
    if (version !== '') keptTexts.keep(key, version, text)
    return text
  }

  /** Numbers of items to ask for, so that a reply has about as many bytes as a batch. */
  async function countsFor(
    long: readonly BucketState[],
  ): Promise<ReadonlyMap<BucketState, number>> {
    const lengths = await ofEach(
      long.map(({ key }) => key),
      lengthCommand,
    )
    const countFor = ({ bytes }: BucketState, place: number) =>
      Math.max(1, Math.floor(batchBytes / Math.max(minTextBytes, bytes / Number(lengths[place]))))
    return new Map(long.map((state, place) => [state, countFor(state, place)]))
  }

  /**
   * Reads buckets, with one call for those that are not kept.
   * @returns of each its whole text, or the first of several batches.
   * @throws {StoreError}
   */
  async function read(group: readonly BucketState[]): Promise<(Buffer | Batch)[]> {
    const texts: (Buffer | Batch | undefined)[] = group.map(({ key, version }) =>
      version === '' || suspects.has(key) ? undefined : keptTexts.get(key, version),
    )
    const unread = group.filter((_, place) => texts[place] === undefined)
    const counts = await countsFor(unread.filter(({ bytes }) => bytes > batchBytes))
    const commands = unread.map((state) => {
      const count = counts.get(state)
      if (count !== undefined) return scanCommand(state.key, firstCursor, count)
      const { key, bytes } = state
      return { ...scanCommand(key, firstCursor, allOf(bytes)), replyBytes: 2 * bytes + shortReply }
    })
    const replies = await readAll(
      commands,
      unread.map(({ key }) => key),
    )
    const results = unread.map((state, place) => {
      const { key, bytes } = state
      const reply = replies[place] as RedisReply // one for each command
      const batch = batchIn(key, counts.get(state) ?? allOf(bytes), reply)
      return batch.cursor === firstCursor ? wholeText(key, batch) : batch
    })
    return texts.map((text) => text ?? (results.shift() as Buffer | Batch)) // one for each that was not kept
  }

  /** Reads the batch after another one; `undefined` after the last. @throws {StoreError} */
  async function readNext(key: string, previous: Batch): Promise<Batch | undefined> {
    const { cursor, count, client } = previous
    if (cursor === firstCursor) return undefined
    const scan = async (from: string) => {
      const [reply] = await readAll([scanCommand(key, from, count)], [key])
      return batchIn(key, count, reply as RedisReply) // one for each command
    }
    const batch = await scan(cursor)
    // A cursor means nothing to another process of the server: there the bucket is read from its start.
    return batch.client === client ? batch : await scan(firstCursor)
  }

  /** Number of items in buckets with these states. @throws {StoreError} */
  async function count(filled: readonly BucketState[]): Promise<number> {
    const lengths = await ofEach(
      filled.map(({ key }) => key),
      lengthCommand,
    )
    return lengths.reduce<number>((sum, length) => sum + Math.max(0, Number(length) - 1), 0)
  }

  return { all, some, check, read, readNext, count }
}

function isSame(field: RedisValue, other: RedisValue | undefined): boolean {
  return (
    field === other || (Buffer.isBuffer(field) && Buffer.isBuffer(other) && field.equals(other))
  )
}

function fieldCommand(key: string): Command {
  return { parts: ['HGET', key, bytesField], replyBytes: fieldBytes }
}

function lengthCommand(key: string): Command {
  return { parts: ['HLEN', key], replyBytes: 0 }
}

function scanCommand(key: string, cursor: string, count: number): Command {
  return { parts: ['HSCAN', key, cursor, 'COUNT', String(count)] }
}

/** At least the number of fields and texts that a bucket with so many bytes has together, which is what HSCAN counts. */
function allOf(bytes: number): number {
  return 2 * (Math.ceil(bytes / minTextBytes) + 1)
}
