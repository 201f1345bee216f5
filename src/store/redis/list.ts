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
  type CorruptedKeys,
  type Entries,
  entriesIn,
  type ItemTexts,
  joined,
  wantedIn,
} from './bucket.js'
import type { BucketState, BucketStates, Read } from './bucket-states.js'
import type { Command, RedisReply } from './client.js'

/** Expected length of the buckets that are read together, in bytes. */
const maxBytesTogether = 256 * 1024
/** Number of buckets that are read together: this takes no more than 2 ms. */
const maxTogether = 1024
/** Expected length of lists that are read as a whole before they are sent, in bytes. */
const shortList = 512 * 1024
/** Length up to which texts are joined, in bytes: joining more takes longer than another write. */
const chunkBytes = 4 * 1024
/** Minimum length of an item's text, in bytes: `{"id":"…"}`. */
const minTextBytes = 45
/** Maximum length of a reply about a bucket besides fields and texts, in bytes. */
const shortReply = 1024
/** Memory for a cached text besides its bytes: its key, its version and the objects around them. */
const cacheOverhead = 400
const firstCursor = '0'

/** A chunk in whose place the reader of a filtered list can pause. */
const nothing = Buffer.alloc(0)

/** A part of a bucket. */
interface Batch extends Entries {
  /** Where the next batch begins; `firstCursor` after the last one. */
  readonly cursor: string
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
  readonly read: Read
}

/** Reads buckets, with one call for all of them. @throws {StoreError} */
export type ReadTexts = (
  buckets: readonly BucketState[],
) => Promise<readonly (ItemTexts | AsyncIterable<ItemTexts>)[]>

/** Returns a function that reads the texts of buckets: all at once, or batch by batch if they are long. */
export function createReadTexts(options: BucketTextsOptions): ReadTexts {
  const { states, corrupted, batchBytes, maxCachedBytes, read } = options
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
    return cached?.version === version && !corrupted.has(key) ? cached.texts : undefined
  }

  function batchIn(key: string, { value, client }: RedisReply): Batch {
    const [cursor, reply] = value as [Buffer, Buffer[]] // as HSCAN replies
    const entries = entriesIn(reply)
    if (entries.unexpected !== undefined) throw corrupted.found(key, entries.unexpected)
    return { ...entries, cursor: cursor.toString(), client }
  }

  /** Returns the texts of a bucket that is complete in one batch. */
  function wholeTexts(key: string, { bytes, items }: Batch): ItemTexts {
    if (bytes === undefined && items.size > 0) throw corrupted.found(key)
    const texts = joined(items)
    if (bytes !== undefined) keep(key, states.stateIn(key, bytes).version, texts)
    return texts
  }

  /** Yields the texts of a long bucket, batch by batch. */
  async function* longTexts(key: string, count: number, first: Batch): AsyncGenerator<ItemTexts> {
    const readFrom = async (cursor: string) => {
      const [reply] = await read([scanCommand(key, cursor, count)])
      return batchIn(key, reply as RedisReply) // one for each command
    }
    /** Ids so far: the server may show an item in two batches while the hash shrinks. */
    const seen = new Set<string>()
    for (let batch = first; ; ) {
      yield joined(new Map([...batch.items].filter(([id]) => !seen.has(id))))
      for (const id of batch.items.keys()) seen.add(id)
      if (batch.cursor === firstCursor) return
      const { client } = batch
      batch = await readFrom(batch.cursor)
      // Another process of the server does not know the cursor: the bucket is then read from its start.
      if (batch.client !== client) batch = await readFrom(firstCursor)
    }
  }

  /** Returns the number of items to ask for: for all of a bucket, or as many as a batch of a long one has. */
  async function countFor({ key, bytes }: BucketState): Promise<number> {
    // `HSCAN` counts fields and texts together.
    if (bytes <= batchBytes) return 2 * (Math.ceil(bytes / minTextBytes) + 1)
    const [length = 1] = await states.lengths([key])
    return Math.max(1, Math.floor(batchBytes / Math.max(minTextBytes, bytes / length)))
  }

  return async function readTexts(buckets) {
    const cached = buckets.map(cachedTexts)
    const unread = buckets.filter((_, index) => cached[index] === undefined)
    const counts = await Promise.all(unread.map(countFor))
    const commands = unread.map(({ key, bytes }, index) => {
      const replyBytes = bytes <= batchBytes ? 2 * bytes + shortReply : undefined
      return { ...scanCommand(key, firstCursor, counts[index] ?? 1), replyBytes }
    })
    const replies = await read(commands)
    const results = unread.map(({ key }, index) => {
      const batch = batchIn(key, replies[index] as RedisReply) // one for each command
      const isWhole = batch.cursor === firstCursor
      return isWhole ? wholeTexts(key, batch) : longTexts(key, counts[index] ?? 1, batch)
    })
    return cached.map((texts) => texts ?? (results.shift() as ItemTexts)) // one for each bucket that was not cached
  }
}

/**
 * Opens a list of the items of buckets.
 * @param isWanted selects items; by default all.
 * @returns once the first items have been read.
 * @throws {StoreError}
 */
export async function openList(
  states: readonly BucketState[],
  readTexts: ReadTexts,
  isWanted?: ItemFilter,
): Promise<Omit<ItemList, 'version'>> {
  const isShort = states.reduce((sum, { bytes }) => sum + bytes, 0) <= shortList
  const all = chunksOf(states, readTexts, isWanted)
  let first: Buffer[] = []
  let length = 0
  do {
    const { done, value } = await all.next()
    if (done) return { byteLength: length, chunks: [Buffer.concat(first)], release() {} }
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

async function* chunksOf(
  states: readonly BucketState[],
  readTexts: ReadTexts,
  isWanted?: ItemFilter,
): AsyncGenerator<Buffer, void> {
  let parts: Buffer[] = []
  let [length, isFirst] = [0, true]
  const chunk = (): Buffer => {
    const whole = parts[0]?.length === length ? parts[0] : Buffer.concat(parts)
    const text = isFirst ? whole.subarray(1) : whole
    parts = []
    length = 0
    isFirst = false
    return text
  }
  for await (const buckets of itemsIn(states, readTexts)) {
    for (const items of buckets) {
      for (const text of isWanted === undefined ? [items.bytes] : wantedIn(items, isWanted)) {
        parts.push(text)
        length += text.length
      }
      if (length >= chunkBytes) yield chunk()
      else if (isWanted !== undefined) yield nothing
    }
  }
  if (length > 0) yield chunk()
}

/** Yields the items of buckets: of all short ones that are read together, or a batch of a long one. @throws {StoreError} */
export async function* itemsIn(
  states: readonly BucketState[],
  readTexts: ReadTexts,
): AsyncGenerator<readonly ItemTexts[], void> {
  const groups = groupsOf(states)
  const readAhead = (group: readonly BucketState[] = []) => {
    const results = readTexts(group)
    results.catch(() => undefined) // thrown where the results are awaited
    return results
  }
  let ahead = readAhead(groups[0])
  for (const index of groups.keys()) {
    const results = await ahead
    ahead = readAhead(groups[index + 1])
    yield results.filter((texts) => 'bytes' in texts)
    for (const texts of results) {
      if (!('bytes' in texts)) for await (const batch of texts) yield [batch]
    }
  }
}

/** Returns the buckets in groups that are read together. */
function groupsOf(states: readonly BucketState[]): BucketState[][] {
  const groups: BucketState[][] = []
  let [group, total]: [BucketState[], number] = [[], 0]
  for (const state of states) {
    total += state.bytes
    if (groups.length === 0 || group.length === maxTogether || total > maxBytesTogether) {
      group = []
      total = state.bytes
      groups.push(group)
    }
    group.push(state)
  }
  return groups
}

function scanCommand(key: string, cursor: string, count: number): Command {
  return { parts: ['HSCAN', key, cursor, 'COUNT', String(count)], key }
}

function memoryOf({ bytes, ends }: ItemTexts): number {
  return bytes.length + ends.byteLength + cacheOverhead
}
