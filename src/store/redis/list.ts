/** Lists items, bucket by bucket, and caches short buckets. Reads the next ones while items are sent. @module */

import { type ItemFilter, storedItem } from '../../item/item.js'
import { ReadMemory } from '../../memory/read-memory.js'
import type { ItemList } from '../item-store.js'
import { bytesField, type CorruptedKeys, type ItemTexts, joined, notProject } from './bucket.js'
import { type BucketState, type BucketStates, portion, type Read } from './bucket-states.js'
import { type Command, keyCommand, type RedisReply } from './client.js'

const maxBytesTogether = 256 * 1024 // of buckets to read with one call, as far as expected
const shortList = 512 * 1024 // in bytes; a list that's not longer is read before it is sent
const chunkBytes = 4 * 1024 // in bytes; joining more item texts takes longer than a second write
const minTextBytes = 45 // the length of `{"id":"…"}`
const scanReplyOverhead = 1024 // of an `HSCAN` reply, without field names and item texts
const cacheOverhead = 400 // bytes of a cached bucket, besides its item texts
const maxProjects = 5000 // in a bucket that is read at once
const firstCursor = '0'

type ReadTexts = ReturnType<typeof createTexts>['read']

export function createTexts(
  states: Pick<BucketStates, 'stateIn'>,
  corrupted: CorruptedKeys,
  read: Read,
  batchBytes: number,
  maxCachedBytes: number,
) {
  /** Item texts by bucket key, valid until the bucket's version changes. */
  const cache = new Map<string, { version: string; texts: ItemTexts; memory: number }>()
  let cachedBytes = 0
  /** Buckets that this service has changed since its latest list, with the most bytes and items they can have. */
  const outdated = new Map<string, BucketState>()

  type Batch = ReturnType<typeof batchIn>

  /** Returns the batch in an `HSCAN` reply, and the cursor of the next one; `firstCursor` after the last. */
  function batchIn(key: string, { value, client }: RedisReply) {
    const [cursor, entries] = value as [Buffer, Buffer[]] // `HSCAN` returns a cursor, and names and values of fields
    const items = new Map<string, Buffer>()
    let bytes: Buffer | undefined
    for (let index = 0; index < entries.length; index += 2) {
      const [field, text] = [entries[index], entries[index + 1]] as [Buffer, Buffer] // each name has a value
      const id = field.toString('latin1')
      if (id === bytesField) bytes = text
      else if (storedItem(id, text)) items.set(id, text)
      else throw corrupted.report(key, field)
    }
    return { bytes, items, cursor: cursor.toString(), client }
  }

  function wholeTexts(key: string, { bytes, items }: Batch): ItemTexts {
    if (bytes === undefined && items.size > 0) throw corrupted.report(key)
    const texts = joined(items)
    if (bytes === undefined) return texts
    const { version } = states.stateIn(key, bytes)
    cachedBytes -= cache.get(key)?.memory ?? 0
    cache.delete(key)
    const memory = texts.bytes.length + texts.ends.byteLength + cacheOverhead
    if (cachedBytes + memory > maxCachedBytes) return texts
    cache.set(key, { version, texts, memory })
    cachedBytes += memory
    return texts
  }

  /** Yields the item texts of a long bucket in batches. @param first batch, which has already been read. */
  async function* longTexts({ parts, key }: Command, first: Batch): AsyncGenerator<ItemTexts> {
    const readFrom = async (cursor: string) => {
      const [reply] = await read([{ parts: parts.with(2, cursor), key }])
      return batchIn(key, reply as RedisReply) // each command has a reply
    }
    const seen = new Set<string>() // ids so far; the server may return an item twice while the hash shrinks
    for (let batch = first; ; ) {
      yield joined(new Map([...batch.items].filter(([id]) => !seen.has(id))))
      for (const id of batch.items.keys()) seen.add(id)
      if (batch.cursor === firstCursor) return
      const { client } = batch
      batch = await readFrom(batch.cursor)
      // A new client means a new server process, which doesn't know the cursor: reading starts over.
      if (batch.client !== client) batch = await readFrom(firstCursor)
    }
  }

  function firstScan({ key, bytes, items }: BucketState): Command {
    const scan = (count: number, replyBytes?: number) =>
      keyCommand(
        ['HSCAN', key, firstCursor, 'MATCH', notProject, 'COUNT', String(count)],
        replyBytes,
      )
    if (bytes > batchBytes) {
      return scan(Math.max(1, Math.floor(batchBytes / Math.max(minTextBytes, bytes / items))))
    }
    // Twice the number of fields: `HSCAN` counts names and values, even of fields that don't match.
    return scan(2 * (items + maxProjects), 3 * bytes + scanReplyOverhead)
  }

  /** Reads short buckets whole, and the first batch of a long one. @throws {StoreError} */
  async function readTexts(buckets: readonly BucketState[]) {
    const cached = buckets.map(({ key, version }) => {
      const known = cache.get(key)
      return known?.version === version && !corrupted.has(key) ? known.texts : undefined
    })
    const unread = buckets.filter((_, index) => cached[index] === undefined)
    const commands = unread.map(firstScan)
    const replies = await read(commands)
    const results = commands.map((command, index) => {
      const { key } = command
      const batch = batchIn(key, replies[index] as RedisReply) // each command has a reply
      return batch.cursor === firstCursor ? wholeTexts(key, batch) : longTexts(command, batch)
    })
    return cached.map((texts) => texts ?? (results.shift() as (typeof results)[0])) // a result for each uncached bucket
  }

  /** While a list reads the states, caches short buckets that this service has changed. This saves a round trip. */
  async function refresh(): Promise<void> {
    const isWorthwhile = ({ key, bytes }: BucketState) =>
      bytes <= batchBytes && (cache.has(key) || cachedBytes + bytes <= maxCachedBytes)
    const [buckets = []] = groupsOf([...outdated.values()].filter(isWorthwhile))
    outdated.clear()
    await readTexts(buckets).catch(() => undefined) // the list reads them again
  }

  /** @param state last known state of the bucket. @param length bytes that may have been added since. */
  function changed(state: BucketState, length: number): void {
    const { key, bytes, items } = outdated.get(state.key) ?? state
    outdated.set(key, { key, bytes: bytes + length, items: items + 1, version: '' }) // no cached version
  }

  return { read: readTexts, refresh, changed }
}

/** Opens a list. Resolves once the first items have been read. @throws {StoreError} */
export async function openList(
  states: readonly BucketState[],
  readTexts: ReadTexts,
  isWanted?: ItemFilter,
): Promise<Omit<ItemList, 'version'>> {
  const isShort = states.reduce((sum, { bytes }) => sum + bytes, 0) <= shortList
  const memory = new ReadMemory()
  const all = chunksOf(itemsIn(states, readTexts), memory, isWanted)
  let first: Buffer[] = []
  let length = 0
  do {
    const { done, value } = await all.next()
    if (done) {
      memory.change(length)
      return { byteLength: length, chunks: [Buffer.concat(first)], memory, release() {} }
    }
    first.push(value)
    length += value.length
  } while (isShort && length <= 2 * shortList) // the list may have grown since the states were read

  async function* chunks(): AsyncGenerator<Buffer> {
    yield* first.splice(0)
    yield* all
  }

  return {
    byteLength: undefined,
    chunks: chunks(),
    memory,
    release() {
      first = []
      void all.return()
    },
  }
}

async function* chunksOf(
  texts: ReturnType<typeof itemsIn>,
  memory: ReadMemory,
  isWanted?: ItemFilter,
): AsyncGenerator<Buffer, void> {
  let parts: Buffer[] = []
  let [length, isFirst] = [0, true]
  const chunk = (): Buffer => {
    const whole = parts[0]?.length === length ? parts[0] : Buffer.concat(parts)
    const text = isFirst ? whole.subarray(1) : whole // without the comma before the first item
    parts = []
    length = 0
    isFirst = false
    return text
  }
  for await (const buckets of texts) {
    // Twice the length: the original texts of a long bucket, or texts read ahead, take about as much memory again.
    const held = 2 * buckets.reduce((sum, { bytes }) => sum + bytes.length, 0)
    memory.change(held)
    for (const items of buckets) {
      for (const text of isWanted === undefined ? [items.bytes] : wantedIn(items, isWanted)) {
        parts.push(text)
        length += text.length
      }
      if (length >= chunkBytes) yield chunk()
      else if (isWanted !== undefined) yield Buffer.alloc(0) // lets the reader of a filtered list pause
    }
    memory.change(-held)
  }
  if (length > 0) yield chunk()
}

/** Returns the item texts that a filter selects, with a comma before each. */
function wantedIn({ bytes, ends }: ItemTexts, isWanted: ItemFilter): Buffer[] {
  const wanted: Buffer[] = []
  let start = 0
  for (const end of ends) {
    if (isWanted(bytes, start + 1)) wanted.push(bytes.subarray(start, end))
    start = end
  }
  return wanted
}

/** Yields item texts: short buckets in groups, a long bucket batch by batch. @throws {StoreError} */
async function* itemsIn(
  states: readonly BucketState[],
  readTexts: ReadTexts,
): AsyncGenerator<readonly ItemTexts[], void> {
  const groups = groupsOf(states.filter(({ bytes }) => bytes > 0))
  let ahead = readTexts(groups[0] ?? [])
  for (const index of groups.keys()) {
    const results = await ahead
    ahead = readTexts(groups[index + 1] ?? [])
    ahead.catch(() => undefined) // the error is thrown where the results are awaited
    yield results.filter((texts) => 'bytes' in texts)
    for (const texts of results) {
      if (!('bytes' in texts)) for await (const batch of texts) yield [batch]
    }
  }
}

function groupsOf(states: readonly BucketState[]): BucketState[][] {
  const groups: BucketState[][] = []
  let [group, total]: [BucketState[], number] = [[], 0]
  for (const state of states) {
    total += state.bytes
    if (groups.length === 0 || group.length === portion || total > maxBytesTogether) {
      group = []
      total = state.bytes
      groups.push(group)
    }
    group.push(state)
  }
  return groups
}
