/** Tests that the index finds the block of every item, whatever the hashes of ids. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Allocations } from '../../../test/support/allocations.js'
import { assertSoundIndex } from '../../../test/support/assert-sound.js'
import { randomNumbers } from '../../../test/support/random.js'
import type { ItemId } from '../../item/id.js'
import { isOutOfMemory } from '../../memory/mapped.js'
import { hashOf, ItemIndex } from './item-index.js'

const randomNumber = randomNumbers(3)
const randomHashes = (count: number) =>
  Array.from({ length: count }, () => randomNumber(2 ** 32) | 0)

function add(index: ItemIndex, hash: number, block: number): void {
  index.needRoom(hash)
  index.add(hash, block)
}

function blocksOf(index: ItemIndex, hash: number): number[] {
  const blocks: number[] = []
  index.find(hash, (block) => void blocks.push(block))
  return blocks
}

const alike = Array.from({ length: 3000 }, (_, n) => (n << 13) | 7) // all in one table
const kinds: [string, number[]][] = [
  ['random', randomHashes(12_000)],
  ['with the same last bits, followed by random ones,', [...alike, ...randomHashes(6000)]],
  ['of which every three are equal', randomHashes(2000).flatMap((hash) => [hash, hash, hash])],
]

for (const [kind, hashes] of kinds) {
  test(`entries with hashes ${kind} are found until they are removed, and their memory is freed`, () => {
    const index = new ItemIndex()
    const places = [...hashes.entries()]
    const assertBlocks = (expected: (place: number) => number[]) => {
      const blocks = new Map<number, number[]>()
      for (const [place, hash] of places) {
        blocks.set(hash, [...(blocks.get(hash) ?? []), ...expected(place)])
      }
      for (const [hash, some] of blocks) {
        assert.deepEqual(blocksOf(index, hash).sort(), some.toSorted())
      }
      assertSoundIndex(index)
    }
    for (const [place, hash] of places) add(index, hash, place)
    assertBlocks((place) => [place])
    for (const [place, hash] of places) if (place % 2 === 0) index.remove(hash, place)
    assertBlocks((place) => (place % 2 === 0 ? [] : [place]))
    for (const [place, hash] of places) if (place % 2 === 1) index.move(hash, place, place + 1000)
    for (const [place, hash] of places) if (place % 2 === 0) add(index, hash, place + 5000)
    assertBlocks((place) => [place + (place % 2 === 0 ? 5000 : 1000)])
    for (const [place, hash] of places) {
      index.remove(hash, place + (place % 2 === 0 ? 5000 : 1000))
    }
    assertBlocks(() => [])
    assert.equal(new Set(index.tables.map((table) => table.words)).size, 1)
  })
}

test('adding an entry changes nothing if any allocation fails', async (context) => {
  const allocations = new Allocations()
  context.after(() => allocations.restore())
  const index = new ItemIndex()
  const hashes = randomHashes(6000)
  let failures = 0
  for (const [block, hash] of hashes.entries()) {
    for (let number = 0; ; number += 1) {
      const { failed, thrown } = await allocations.failing(number, () => add(index, hash, block))
      if (thrown === undefined) break
      assert.ok(failed)
      assert.ok(isOutOfMemory(thrown))
      assert.deepEqual(blocksOf(index, hash), [])
      failures += 1
    }
  }
  assert.ok(failures > 10, `${failures} failures`)
  assertSoundIndex(index)
  for (const [block, hash] of hashes.entries()) assert.deepEqual(blocksOf(index, hash), [block])
})

test('ids that differ in only one digit have different hashes, also in their last bits', () => {
  const first = '00000000-0000-0000-0000-000000000000'
  const others = Array.from(first.matchAll(/0/g), ({ index }) =>
    [...'123456789abcdef'].map(
      (digit) => `${first.slice(0, index)}${digit}${first.slice(index + 1)}`,
    ),
  )
  const hashes = [first, ...others.flat()].map((id) => hashOf(id as ItemId)) // in the format of a UUID
  assert.equal(new Set(hashes).size, hashes.length)
  assert.ok(new Set(hashes.map((hash) => hash & 0xff)).size > 200)
})
