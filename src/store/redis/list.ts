/**
 * The list of all items, bucket by bucket. While some buckets are sent, the next ones are read, several in one call;
 * of one that is too long for that, the later batches when their turn comes.
 *
 * The server may show an item of a bucket twice while the bucket's hash shrinks, so the ids of one that comes
 * in several batches are remembered until its end.
 *
 * @module
 */

import type { ItemList } from '../item-store.js'
import type { Batch, BucketState, Buckets } from './buckets.js'
import { joined, textsIn } from './item-fields.js'

/** Expected length of the buckets that are read together, in bytes. */
const maxBytesTogether = 256 * 1024
/** Number of buckets that are read together, so that this takes no more than 2 ms. */
const maxTogether = 1024
/** Expected length of lists that are read as a whole before they are sent, in bytes. */
const shortList = 512 * 1024
/**
 * Texts are joined until they have this length, in bytes. A short list is sent in few pieces. For a long one, a copy of
 * more than this takes longer than another write.
 */
const [shortListChunk, longListChunk] = [64 * 1024, 4 * 1024]

/** @returns once the first items are there. @throws {StoreError} */
export async function openList(
  states: readonly BucketState[],
  buckets: Buckets,
): Promise<Omit<ItemList, 'version'>> {
  const isShort = sum(states.map(({ bytes }) => bytes)) <= shortList
  const all = chunksOf(states, buckets, isShort ? shortListChunk : longListChunk)
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

async function* chunksOf(
  states: readonly BucketState[],
  buckets: Buckets,
  chunkBytes: number,
): AsyncGenerator<Buffer, void> {
  let parts: Buffer[] = []
  let [length, isFirst] = [0, true]
  const add = (text: Buffer): void => {
    if (text.length === 0) return
    parts.push(isFirst ? text.subarray(1) : text)
    isFirst = false
    length += text.length
  }
  const chunk = (): Buffer => {
    const whole = parts[0]?.length === length ? parts[0] : Buffer.concat(parts)
    parts = []
    length = 0
    return whole
  }
  const groups = groupsOf(states)
  const readAhead = (group: readonly BucketState[] = []) => {
    const texts = buckets.read(group)
    texts.catch(() => undefined) // it is thrown where the texts are awaited
    return texts
  }
  let ahead = readAhead(groups[0])
  for (const [place, group] of groups.entries()) {
    const texts = await ahead
    ahead = readAhead(groups[place + 1])
    for (const [index, { key }] of group.entries()) {
      const seen = new Set<string>()
      let next = texts[index]
      while (next !== undefined) {
        const batch: Batch | undefined = Buffer.isBuffer(next) ? undefined : next
        if (Buffer.isBuffer(next)) add(next)
        else add(joined(textsIn(next.entries, seen)))
        if (length >= chunkBytes) yield chunk()
        next = batch && (await buckets.readNext(key, batch))
      }
    }
  }
  if (length > 0) yield chunk()
}

/** Buckets that are read together. */
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

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
