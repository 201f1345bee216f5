/**
 * The list of all items, bucket by bucket. While some buckets are sent, the next ones are read, several in one call.
 * A bucket of more than a batch is read batch by batch.
 *
 * The text of a bucket that fits into a batch was complete at one instant. It is cached under the version that came in
 * the same reply, so that a list reads only what has changed.
 *
 * @module
 */

import type { ItemFilter } from '../../item/item.js'
import type { ItemList } from '../item-store.js'
import {
  bytesIn,
  type CorruptedKeys,
  type ItemTexts,
  joined,
  textsIn,
  unexpectedFieldIn,
  wantedIn,
} from './bucket.js'
import type { BucketState, BucketStates, ReadAll } from './bucket-states.js'
import type { Command, RedisReply } from './client.js'

/** Expected length of the buckets that are read together, in bytes. */
const maxBytesTogether = 256 * 1024
/** Number of buckets that are read together: this takes no more than 2 ms. */
const maxTogether = 1024
/** Expected length of lists that are read as a whole before they are sent, in bytes. */
const shortList = 512 * 1024
/** Length up to which texts of a short list are joined, in bytes, so that it is sent in few pieces. */
const shortListChunk = 64 * 1024
/** Length up to which texts of a long list are joined, in bytes: joining more takes longer than another write. */
const longListChunk = 4 * 1024
/** Minimum length of an item's text, in bytes: `{"id":"…"}`. */
const minTextBytes = 45
/** Maximum length of a reply about a bucket besides fields and texts, in bytes. */
const shortReply = 1024
/** Memory for a cached text besides its bytes: its key, its version and the objects around them. */
const cacheOverhead = 400
const firstCursor = '0'

/** A chunk in whose place the reader of a filtered list can pause. */
const nothing = Buffer.alloc(0)

/** A part of a bucket that is too long to be read at once. */
interface Batch {
  /** Fields and their texts in turn. */
  readonly entries: readonly Buffer[]
  /** Where the next batch begins; `firstCursor` after the last one. */
  readonly cursor: string
  /** Number of items to ask for in the next batch. */
  readonly count: number
  /** Identifies the server process that gave the cursor. */
  readonly client: object
}

interface BucketTextsOptions {
  readonly states: BucketStates
  readonly corrupted: CorruptedKeys
  /** Bytes of items to ask for at a time. */
  readonly batchBytes: number
  /** Maximum memory for cached texts, in bytes. */
  readonly maxCachedBytes: number
  readonly readAll: ReadAll
}

export type BucketTexts = ReturnType<typeof createBucketTexts>

/** Reads the texts of buckets. */
export function createBucketTexts(options: BucketTextsOptions) {
  const { states, corrupted, batchBytes, maxCachedBytes, readAll } = options
  /** Texts by key. A version is a random UUID that belongs to one content of a bucket. */
  const cache = new Map<string, { readonly version: string; readonly texts: ItemTexts }>()
  let cachedBytes = 0

  function keep(key: string, version: string, texts: ItemTexts): void {
    const former = cache.get(key)
    if (former !== undefined) cachedBytes -= memoryOf(former.texts)
    cache.delete(key)
    const bytes = memoryOf(texts)
    if (cachedBytes + bytes > maxCachedBytes) return
    cache.set(key, { version, texts })
    cachedBytes += bytes
  }

  function cachedTexts({ key, version }: BucketState): ItemTexts | undefined {
    const cached = cache.get(key)
    if (version === '' || cached?.version !== version || corrupted.has(key)) return undefined
    return cached.texts
  }

  function batchIn(key: string, count: number, { value, client }: RedisReply): Batch {
    const [cursor, entries] = value as [Buffer, Buffer[]] // as HSCAN replies
    const field = unexpectedFieldIn(entries)
    if (field !== undefined) throw corrupted.found(key, field)
    return { entries, cursor: cursor.toString(), count, client }
  }

  /** Returns the texts of a bucket that is complete in one batch. */
  function wholeTexts(key: string, { entries }: Batch): ItemTexts {
    const field = bytesIn(entries)
    if (field === undefined && entries.length > 0) throw corrupted.found(key)
    const { version } = states.stateIn(key, field ?? null)
    const texts = joined(textsIn(entries))
    if (version !== '') keep(key, version, texts)
    return texts
  }

  /** Returns the number of items to ask for, so that a reply has about as many bytes as a batch. */
  async function countsFor(
    long: readonly BucketState[],
  ): Promise<ReadonlyMap<BucketState, number>> {
    const lengths = await states.lengths(long.map(({ key }) => key))
    const countFor = ({ bytes }: BucketState, index: number) =>
      Math.max(1, Math.floor(batchBytes / Math.max(minTextBytes, bytes / (lengths[index] ?? 1))))
    return new Map(long.map((state, index) => [state, countFor(state, index)]))
  }

  /**
   * Reads buckets, with one call for those that are not cached.
   * @returns for each bucket all its texts, or the first of several batches.
   * @throws {StoreError}
   */
  async function read(group: readonly BucketState[]): Promise<(ItemTexts | Batch)[]> {
    const texts: (ItemTexts | Batch | undefined)[] = group.map(cachedTexts)
    const unread = group.filter((_, index) => texts[index] === undefined)
    const counts = await countsFor(unread.filter(({ bytes }) => bytes > batchBytes))
    const commands = unread.map((state) => {
      const { key, bytes } = state
      const count = counts.get(state)
      if (count !== undefined) return scanCommand(key, firstCursor, count)
      return { ...scanCommand(key, firstCursor, allOf(bytes)), replyBytes: 2 * bytes + shortReply }
    })
    const replies = await readAll(
      commands,
      unread.map(({ key }) => key),
    )
    const results = unread.map((state, index) => {
      const { key, bytes } = state
      const reply = replies[index] as RedisReply // one for each command
      const batch = batchIn(key, counts.get(state) ?? allOf(bytes), reply)
      return batch.cursor === firstCursor ? wholeTexts(key, batch) : batch
    })
    return texts.map((text) => text ?? (results.shift() as ItemTexts | Batch)) // one for each bucket that was not cached
  }

  /** Reads the batch after another one. @returns `undefined` after the last. @throws {StoreError} */
  async function readNext(key: string, previous: Batch): Promise<Batch | undefined> {
    const { cursor, count, client } = previous
    if (cursor === firstCursor) return undefined
    const scan = async (from: string) => {
      const [reply] = await readAll([scanCommand(key, from, count)], [key])
      return batchIn(key, count, reply as RedisReply) // one for each command
    }
    const batch = await scan(cursor)
    // Another process of the server does not know the cursor: the bucket is then read from its start.
    return batch.client === client ? batch : await scan(firstCursor)
  }

  return { read, readNext }
}

/**
 * Opens a list of the items of buckets.
 * @param isWanted selects items; by default all.
 * @returns once the first items have been read.
 * @throws {StoreError}
 */
export async function openList(
  states: readonly BucketState[],
  texts: BucketTexts,
  isWanted?: ItemFilter,
): Promise<Omit<ItemList, 'version'>> {
  const isShort = states.reduce((sum, { bytes }) => sum + bytes, 0) <= shortList
  const all = chunksOf(states, texts, isShort ? shortListChunk : longListChunk, isWanted)
  let first: Buffer[] = []
  let length = 0
  do {
    const { done, value } = await all.next()
    if (done) return { byteLength: length, chunks: first, release() {} }
    first.push(value)
    length += value.length
  } while (isShort && length <= 2 * shortList) // it may have grown since

  async function* chunks(): AsyncGenerator<Buffer> {
    yield* first.splice(0)
    yield* all
  }

  return {
    byteLength: undefined,
    chunks: chunks(),
    release() {
      first = []
      void all.return()
    },
  }
}

/** Returns a list of these texts. */
export function listOf(texts: readonly Buffer[], version: string): ItemList {
  const bytes = joined(texts).bytes.subarray(1)
  return { version, byteLength: bytes.length, chunks: [bytes], release() {} }
}

async function* chunksOf(
  states: readonly BucketState[],
  texts: BucketTexts,
  chunkBytes: number,
  isWanted?: ItemFilter,
): AsyncGenerator<Buffer, void> {
  let parts: Buffer[] = []
  let [length, isFirst] = [0, true]
  const add = (text: Buffer): void => {
    if (text.length === 0) return
    const part = isFirst ? text.subarray(1) : text
    parts.push(part)
    isFirst = false
    length += part.length
  }
  const chunk = (): Buffer => {
    const whole = parts[0]?.length === length ? parts[0] : Buffer.concat(parts)
    parts = []
    length = 0
    return whole
  }
  for await (const buckets of itemsIn(states, texts)) {
    for (const items of buckets) {
      if (isWanted === undefined) add(items.bytes)
      else for (const text of wantedIn(items, isWanted)) add(text)
      if (length >= chunkBytes) yield chunk()
      else if (isWanted !== undefined) yield nothing
    }
  }
  if (length > 0) yield chunk()
}

/** Yields the items of buckets: of all short ones that are read together, or a batch of a long one. @throws {StoreError} */
export async function* itemsIn(
  states: readonly BucketState[],
  texts: BucketTexts,
): AsyncGenerator<readonly ItemTexts[], void> {
  const groups = groupsOf(states)
  const readAhead = (group: readonly BucketState[] = []) => {
    const results = texts.read(group)
    results.catch(() => undefined) // thrown where the results are awaited
    return results
  }
  let ahead = readAhead(groups[0])
  for (const [order, group] of groups.entries()) {
    const results = await ahead
    ahead = readAhead(groups[order + 1])
    const short: ItemTexts[] = []
    for (const [index, { key }] of group.entries()) {
      const result = results[index]
      if (result === undefined) continue
      if (!('entries' in result)) {
        short.push(result)
        continue
      }
      /** Ids so far: the server may show an item in two batches while the hash shrinks. */
      const seen = new Set<string>()
      for (let batch: Batch | undefined = result; batch; batch = await texts.readNext(key, batch))
        yield [joined(textsIn(batch.entries, seen))]
    }
    yield short
  }
}

/** Returns the buckets in groups that are read together. */
function groupsOf(states: readonly BucketState[]): BucketState[][] {
  const groups: BucketState[][] = []
  let group: BucketState[] = []
  let total = 0
  for (const state of states) {
    total += state.bytes
    if (group.length === maxTogether || (group.length > 0 && total > maxBytesTogether)) {
      group = []
      total = state.bytes
    }
    if (group.length === 0) groups.push(group)
    group.push(state)
  }
  return groups
}

function scanCommand(key: string, cursor: string, count: number): Command {
  return { parts: ['HSCAN', key, cursor, 'COUNT', String(count)] }
}

/** Returns a `COUNT` that covers a bucket of so many bytes: `HSCAN` counts fields and texts together. */
function allOf(bytes: number): number {
  return 2 * (Math.ceil(bytes / minTextBytes) + 1)
}

function memoryOf({ bytes, ends }: ItemTexts): number {
  return bytes.length + ends.byteLength + cacheOverhead
}
