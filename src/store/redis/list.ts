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
import { textsIn } from './item-fields.js'

/** Expected length of the buckets that are read together, in bytes. */
const maxBytesTogether = 256 * 1024
/** Number of buckets that are read together, so that this takes no more than 2 ms. */
const maxTogether = 1024
/** Expected length of lists that are read as a whole before they are sent, in bytes. */
const shortList = 512 * 1024
/** Texts are joined until they have this length, in bytes: each chunk costs a write. */
const chunkBytes = 64 * 1024

const comma = Buffer.from(',')

/** @returns once the first items are there. @throws {StoreError} */
export async function openList(
  states: readonly BucketState[],
  buckets: Buckets,
): Promise<Omit<ItemList, 'version'>> {
  const all = chunksOf(states, buckets)
  const isShort = sum(states.map(({ bytes }) => bytes)) <= shortList
  let first: Buffer[] = []
  let isWhole = false
  do {
    const next = await all.next()
    if (next.done) isWhole = true
    else first.push(next.value)
  } while (isShort && !isWhole && first.length * chunkBytes < 2 * shortList) // may have grown since

  async function* chunks(): AsyncGenerator<Buffer> {
    yield* first.splice(0)
    yield* all
  }

  return {
    byteLength: isWhole ? sum(first.map(({ length }) => length)) : undefined,
    chunks: isWhole ? first : chunks(),
    release() {
      first = []
      void all.return()
    },
  }
}

async function* chunksOf(
  states: readonly BucketState[],
  buckets: Buckets,
): AsyncGenerator<Buffer, void> {
  let parts: Buffer[] = []
  let [length, isFirst] = [0, true]
  const add = (text: Buffer): void => {
    if (text.length === 0) return
    if (!isFirst) parts.push(comma)
    isFirst = false
    parts.push(text)
    length += text.length + 1
  }
  const chunk = (): Buffer => {
    const whole = Buffer.concat(parts)
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
        else for (const text of textsIn(next.entries, seen)) add(text)
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
