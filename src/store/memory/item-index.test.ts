/** Tests that the index finds every item, and refuses new items when it has no free handle. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Allocations } from '../../../test/support/allocations.js'
import { assertSoundIndex } from '../../../test/support/assert-sound.js'
import { randomNumbers } from '../../../test/support/random.js'
import type { ItemId } from '../../item/id.js'
import { ItemIndex } from './item-index.js'
import { type Handle, handlePages, pageRecords } from './records.js'

const full = { name: 'StoreError', code: 'STORE_FULL' }

function idOf(...words: [number, number, number, number]): ItemId {
  const digits = words.map((word) => word.toString(16).padStart(8, '0')).join('')
  return digits.replace(/(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-') as ItemId // formatted as a UUID
}

const word = 2 ** 31 // random words are less than this number
const randomWord = randomNumbers(3)
const randomIds = (count: number) =>
  Array.from({ length: count }, () => idOf(randomWord(word), 1, 2, randomWord(word)))

function added(index: ItemIndex, id: ItemId, block: number): Handle {
  const handle = index.add(id)
  index.records.setBlock(handle, block)
  return handle
}

function blockOf(index: ItemIndex, id: ItemId): number | undefined {
  const handle = index.find(id)
  return handle === undefined ? undefined : index.records.blockOf(handle)
}

const alike = Array.from({ length: 3000 }, (_, n) => idOf(7, n, 0, n))
const colliding = Array.from({ length: 5000 }, (_, n) => idOf(n, n, 0, (n / 3) | 0))
const kinds: [string, ItemId[]][] = [
  ['random', randomIds(12_000)],
  // All `alike` ids stay in one table. Its splits lengthen `tables`, so that most other tables fill several entries.
  ['with the same first word, followed by random ids,', [...alike, ...randomIds(6000)]],
  ['of which every three have the same hash', colliding],
]

for (const [kind, ids] of kinds) {
  test(`ids ${kind} are found until they are removed, and their memory is reused or freed`, () => {
    const index = new ItemIndex()
    for (const [block, id] of ids.entries()) added(index, id, block)
    assertSoundIndex(index)
    const handles = ids.map((id) => index.find(id))
    for (const [block, handle] of handles.entries()) {
      assert.ok(handle !== undefined)
      assert.equal(index.records.blockOf(handle), block)
      if (block % 2 === 0) index.remove(handle)
    }
    assertSoundIndex(index)
    const isThere = (block: number) => block % 2 === 1
    for (const [block, id] of ids.entries())
      assert.equal(blockOf(index, id), isThere(block) ? block : undefined)
    const { length } = index.records.pages
    for (const [block, id] of ids.entries()) if (!isThere(block)) added(index, id, block + 1000)
    assertSoundIndex(index)
    assert.equal(index.records.pages.length, length)
    for (const [block, id] of ids.entries())
      assert.equal(blockOf(index, id), isThere(block) ? block : block + 1000)
    for (const id of ids) index.remove(index.find(id) ?? -1)
    assertSoundIndex(index)
    const slots = [...new Set(index.tables)].reduce((sum, table) => sum + table.slots.length, 0)
    assert.ok(slots < 20 * 2048, `${slots} slots`)
    assert.equal(index.records.pages.filter(({ words }) => words.length > 0).length, 1)
    for (const id of ids) assert.equal(index.find(id), undefined)
  })
}

test('adding an id changes nothing if any allocation fails', async (context) => {
  const allocations = new Allocations()
  context.after(() => allocations.restore())
  const index = new ItemIndex()
  const ids = randomIds(6000)
  let failures = 0
  for (const [block, id] of ids.entries()) {
    for (let number = 0; ; number += 1) {
      const { failed, thrown } = await allocations.failing(number, () => added(index, id, block))
      if (thrown === undefined) break
      assert.ok(failed)
      assert.equal((thrown as { code?: unknown }).code, full.code) // `thrown` may be of any type
      assert.equal(index.find(id), undefined)
      failures += 1
    }
    if (block % 1000 === 0) assertSoundIndex(index)
  }
  assert.ok(failures > 10, `${failures} failures`)
  assertSoundIndex(index)
  for (const [block, id] of ids.entries()) assert.equal(blockOf(index, id), block)
})

test('ids that differ in only one digit are different entries', () => {
  const first = '00000000-0000-0000-0000-000000000000' as ItemId
  const others = Array.from(first.matchAll(/0/g), ({ index }) =>
    [...'123456789abcdef'].map((digit) => {
      return `${first.slice(0, index)}${digit}${first.slice(index + 1)}` as ItemId
    }),
  )
  const index = new ItemIndex()
  const all = [first, ...others.flat()]
  for (const [block, id] of all.entries()) {
    assert.equal(index.find(id), undefined)
    added(index, id, block)
  }
  for (const [block, id] of all.entries()) assert.equal(blockOf(index, id), block)
})

test('with all records in use, an item is refused until another item is removed', () => {
  const index = new ItemIndex()
  index.records.pages.length = handlePages - 2
  const ids = randomIds(2 * pageRecords + 10)
  const [kept, others] = [ids.slice(0, -10), ids.slice(-10)]
  for (const [block, id] of kept.entries()) added(index, id, block)
  for (const id of others) assert.throws(() => index.add(id), full)
  for (const [block, id] of kept.entries()) assert.equal(blockOf(index, id), block)
  const [first, last] = [kept[0], others[0]] as [ItemId, ItemId] // neither array is empty
  index.remove(index.find(first) ?? -1)
  added(index, last, 99)
  assert.equal(blockOf(index, last), 99)
  assert.equal(index.find(first), undefined)
  assertSoundIndex(index)
})
