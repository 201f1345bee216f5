/**
 * The list of all items, bucket by bucket and batch by batch. The first batches of the next buckets are asked
 * for ahead, all at once; the later ones of a bucket when their turn comes.
 *
 * The engine may show an item of a bucket twice while the bucket's hash shrinks, so the ids of one
 * bucket are remembered until its end.
 *
 * @module
 */

import type { ItemList } from '../item-store.js'
import { bytesField } from './scripts.js'

/** A hash of items. */
export interface Bucket {
  /** Expected length of its first batch in bytes. */
  readonly batchBytes: number
  /** Reads the batch after another one, or the first. @throws {StoreError} */
  readBatch(previous?: Batch): Promise<Batch>
}

/** A part of a bucket. */
export interface Batch {
  /** Fields and their texts in turn. */
  readonly entries: readonly Buffer[]
  /** Where the next batch begins; `firstCursor` after the last one. */
  readonly cursor: string
  /** Stands for the process of the engine that the cursor means something to. */
  readonly client: object
}

/** The cursor of a first batch. */
export const firstCursor = '0'

/** Expected length of the batches asked for before they are needed, in bytes. */
const maxBytesAhead = 512 * 1024

const itemStart = '{"id":"'
const idLength = 36
const closeBrace = 0x7d

const [nothing, comma] = [Buffer.alloc(0), Buffer.from(',')]

/** @returns once the first items are there. @throws {StoreError} */
export async function openList(buckets: readonly Bucket[]): Promise<Omit<ItemList, 'version'>> {
  const all = chunksOf(buckets)
  let first: IteratorResult<Buffer, void> | undefined = await all.next()

  async function* chunks(): AsyncGenerator<Buffer> {
    if (first?.done === false) yield first.value
    first = undefined
    yield* all
  }

  return {
    byteLength: undefined,
    chunks: chunks(),
    release() {
      first = undefined
      void all.return()
    },
  }
}

async function* chunksOf(buckets: readonly Bucket[]): AsyncGenerator<Buffer, void> {
  const ahead: Promise<Batch>[] = []
  let [bytesAhead, separator, requested] = [0, nothing, 0]
  for (const bucket of buckets) {
    for (const next of buckets.slice(requested)) {
      if (ahead.length > 0 && bytesAhead + next.batchBytes > maxBytesAhead) break
      const batch = next.readBatch()
      batch.catch(() => undefined) // it is thrown where the batch is awaited
      ahead.push(batch)
      bytesAhead += next.batchBytes
      requested += 1
    }
    const seen = new Set<string>([bytesField])
    for (let batch = await ahead.shift(); batch !== undefined; ) {
      const parts: Buffer[] = []
      for (let place = 0; place < batch.entries.length; place += 2) {
        const [field, text] = [batch.entries[place], batch.entries[place + 1]]
        const id = field?.toString('latin1') ?? ''
        if (text === undefined || seen.has(id)) continue
        seen.add(id)
        parts.push(separator, text)
        separator = comma
      }
      if (parts.length > 0) yield Buffer.concat(parts)
      batch = batch.cursor === firstCursor ? undefined : await bucket.readBatch(batch)
    }
    bytesAhead -= bucket.batchBytes
  }
}

/** The first field that is neither an item's nor the one for the length of all texts. */
export function unexpectedFieldIn(entries: readonly Buffer[]): Buffer | undefined {
  for (let place = 0; place < entries.length; place += 2) {
    const [field, text] = [entries[place], entries[place + 1]]
    if (field === undefined || text === undefined) return undefined
    const name = field.toString('latin1')
    if (name !== bytesField && !isItem(name, text)) return field
  }
  return undefined
}

/** Whether the text begins with the id, as `{"id":"…"`, and ends like an object. */
export function isItem(id: string, text: Buffer): boolean {
  return (
    id.length === idLength &&
    text.length > itemStart.length + idLength + 1 &&
    text.toString('latin1', 0, itemStart.length + idLength) === itemStart + id &&
    text[text.length - 1] === closeBrace
  )
}
