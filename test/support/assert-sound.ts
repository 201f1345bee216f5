/** Checks that the internal data structures of a memory store are consistent. */

import assert from 'node:assert/strict'
import type { ItemId } from '../../src/item/id.js'
import { type Block, entryBytes } from '../../src/store/memory/block.js'
import type { Blocks } from '../../src/store/memory/blocks.js'
import { hashOf, type ItemIndex } from '../../src/store/memory/item-index.js'

const comma = 0x2c

export function assertSound(blocks: Blocks): void {
  const all = [...blocksInOrder(blocks)]
  const current = all.filter(({ retiredAfterList }) => retiredAfterList === 0)
  assertNumbers(blocks, current)
  for (const block of current) assertBlock(blocks, block)
  assertRetired(blocks, all.length)
  assertFrames(blocks, all)
  const { tail } = blocks
  if (tail !== undefined) assert.equal(tail, current.at(-1))
  const inBlocks = current.flatMap((block) => hashesIn(block).map((hash) => [hash, block.number]))
  assert.deepEqual(assertSoundIndex(blocks.index).sort(), inBlocks.map(String).sort())
}

export function retiredIn(blocks: Blocks): Block[] {
  return [...blocksInOrder(blocks)].filter(({ retiredAfterList }) => retiredAfterList > 0)
}

function* blocksInOrder({ chain: { first, last } }: Blocks): Generator<Block> {
  let before: Block | undefined
  for (let block = first; block !== undefined; block = block.after) {
    assert.equal(block.before, before)
    yield block
    before = block
  }
  assert.equal(last, before)
}

function assertNumbers({ byNumber, freeNumbers }: Blocks, current: Block[]): void {
  for (const block of current) assert.equal(byNumber[block.number], block)
  for (const number of freeNumbers) assert.equal(byNumber[number], undefined)
  assert.equal(new Set(freeNumbers).size, freeNumbers.length)
  assert.equal(current.length + freeNumbers.length, byNumber.length)
}

function assertBlock({ frames }: Blocks, { count, used, frame }: Block): void {
  const { bytes, start, words, slab } = frame
  assert.ok(count > 0, 'a block has no items')
  if (slab === undefined) {
    assert.equal(count, 1)
    assert.equal(bytes.length, used - 1)
    return
  }
  assert.ok(used + count * entryBytes <= frames.size, 'texts and table overlap')
  const end = (start + frames.size) / 4
  let last = 0
  for (let position = 0; position < count; position += 1) {
    const itemEnd = words[end - position * 2 - 1] ?? 0
    assert.ok(itemEnd > last && itemEnd <= used)
    assert.equal(bytes[start + itemEnd - 1], comma)
    last = itemEnd
  }
  assert.equal(last, used)
}

/** Checks that each retired block is still read by an open list, and is kept for the oldest of those lists. */
function assertRetired(blocks: Blocks, count: number): void {
  const { chain, frames } = blocks
  const retired = retiredIn(blocks)
  assert.equal(chain.current, count - retired.length)
  const kept = new Set<Block>()
  for (const [place, { listNumber, retained: first }] of chain.open.entries()) {
    const older = chain.open[place - 1]?.listNumber ?? 0
    for (let block = first; block !== undefined; block = block.nextRetained) {
      const { createdAfterList, retiredAfterList } = block
      assert.ok(
        older <= createdAfterList &&
          createdAfterList < listNumber &&
          listNumber <= retiredAfterList,
        'kept for the wrong list',
      )
      kept.add(block)
    }
  }
  assert.deepEqual(kept, new Set(retired))
  assert.equal(frames.pinnedFrom, chain.open[0]?.listNumber ?? Number.POSITIVE_INFINITY)
}

/** Checks that each used frame has one block, and that the totals match. */
function assertFrames({ frames }: Blocks, all: Block[]): void {
  const used = new Set(all.map(({ frame }) => frame))
  assert.equal(used.size, all.length)
  const own = [...used].filter(({ slab }) => slab === undefined)
  const ownBytes = own.reduce((sum, { bytes }) => sum + bytes.length, 0)
  let [inUse, held] = [0, 0]
  for (const slab of frames.slabs) {
    const places = [...slab.free, ...[...slab.frames].map(({ start }) => start)]
    const count = slab.bytes.length / frames.size
    assert.deepEqual(
      places.sort((a, b) => a - b),
      Array.from({ length: count }, (_, place) => place * frames.size),
    )
    for (const frame of slab.frames) {
      assert.ok(used.has(frame), 'a frame without a block')
      assert.equal(frame.slab, slab)
    }
    inUse += slab.frames.size
    held += count
  }
  assert.equal(inUse + own.length, used.size)
  assert.equal(frames.bytesInUse, inUse * frames.size + ownBytes)
  assert.equal(frames.bytesHeld, held * frames.size + ownBytes)
}

/** Returns the hashes of a block's items, computed from their texts. */
function hashesIn(block: Block): number[] {
  return Array.from({ length: block.count }, (_, position) => {
    const id = block.read(position).toString('latin1', 7, 43)
    return hashOf(id as ItemId) // every text in a block begins with an id
  })
}

/** Checks the index's tables, and returns each entry as text: its hash and the number of its block. */
export function assertSoundIndex({ tables }: ItemIndex): string[] {
  const entries: string[] = []
  for (const table of new Set(tables)) {
    let size = 0
    for (let slot = 0; slot < table.words.length; slot += 2) {
      const [hash = 0, taken = 0] = table.words.subarray(slot, slot + 2)
      if (taken === 0) continue
      size += 1
      entries.push(`${hash},${taken - 1}`)
      assert.equal(tables[hash & (tables.length - 1)], table)
    }
    assert.equal(size, table.size)
  }
  return entries
}
