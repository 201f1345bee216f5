/** Looks into a memory store, and checks that everything in it agrees with everything else. */

import assert from 'node:assert/strict'
import type { Frame, Slab } from '../../src/store/memory/frames.js'
import type { ItemIndex } from '../../src/store/memory/item-index.js'
import { entryBytes, type Page } from '../../src/store/memory/page.js'
import type { Pages } from '../../src/store/memory/pages.js'
import type { Version } from '../../src/store/memory/versions.js'

const comma = 0x2c
const recordWords = 5

/** @throws {AssertionError} when index, pages, versions, frames and counts do not agree. */
export function assertSound(pages: Pages): void {
  const inOrder = [...pagesInOrder(pages)]
  const versions = [...versionsInOrder(pages)]
  assertNumbers(pages, inOrder)
  for (const page of inOrder) assertPage(pages, page)
  assertVersions(pages, inOrder, versions)
  assertFrames(pages, versions)
  const items = inOrder.reduce((sum, { count }) => sum + count, 0)
  assert.equal(indexedItems(pages.index), items)
}

function* pagesInOrder({ first, last }: Pages): Generator<Page> {
  let previous: Page | undefined
  for (let page = first; page !== undefined; page = page.next) {
    assert.equal(page.previous, previous)
    yield page
    previous = page
  }
  assert.equal(last, previous)
}

function* versionsInOrder({ versions: { first } }: Pages): Generator<Version> {
  let before: Version | undefined
  for (let version = first; version !== undefined; version = version.after) {
    assert.equal(version.before, before)
    yield version
    before = version
  }
}

/** Every number is that of one page or free. */
function assertNumbers({ byNumber, freeNumbers }: Pages, inOrder: Page[]): void {
  for (const page of inOrder) assert.equal(byNumber[page.number], page)
  for (const number of freeNumbers) assert.equal(byNumber[number], undefined)
  assert.equal(new Set(freeNumbers).size, freeNumbers.length)
  assert.equal(inOrder.length + freeNumbers.length, byNumber.length)
}

/** The texts of a page and its table agree, and the index knows the page of each item. */
function assertPage({ frames, index }: Pages, { number, count, version }: Page): void {
  const { frame, used, until } = version
  const { bytes, start, words, slab } = frame
  assert.equal(until, 0)
  assert.ok(count > 0, 'a page without items')
  if (slab === undefined) {
    assert.equal(count, 1)
    assert.equal(bytes.length, used)
    assert.equal(bytes[used - 1], comma)
    return
  }
  assert.ok(used + count * entryBytes <= frames.size, 'texts and table overlap')
  const end = (start + frames.size) / 4
  let last = 0
  for (let position = 0; position < count; position += 1) {
    const handle = words[end - position * 2 - 2] ?? 0
    const itemEnd = words[end - position * 2 - 1] ?? 0
    assert.equal(index.pageOf(handle), number)
    assert.ok(itemEnd > last && itemEnd <= used)
    assert.equal(bytes[start + itemEnd - 1], comma)
    last = itemEnd
  }
  assert.equal(last, used)
}

/** Those of the pages are in their order; the others are kept for the newest open list that sees them. */
function assertVersions({ versions }: Pages, inOrder: Page[], chain: Version[]): void {
  const own = chain.filter(({ until }) => until === 0)
  assert.deepEqual(
    own.map((version) => inOrder.findIndex((page) => page.version === version)),
    inOrder.map((_, place) => place),
  )
  assert.equal(versions.own, own.length)
  assert.equal(versions.kept, chain.length - own.length)
  const kept = new Set<Version>()
  for (const [place, { moment, kept: first }] of versions.open.entries()) {
    const next = versions.open[place + 1]?.moment ?? Number.POSITIVE_INFINITY
    for (let version = first; version !== undefined; version = version.nextKept) {
      const { since, until } = version
      assert.ok(since < moment && moment <= until && until < next, 'kept for another list')
      kept.add(version)
    }
  }
  assert.equal(kept.size, versions.kept)
  assert.equal(versions.frames.pinnedFrom, versions.open[0]?.moment ?? Number.POSITIVE_INFINITY)
}

/** Every frame in use is that of a version, every place of a slab in use or free, and all adds up. */
function assertFrames({ frames }: Pages, chain: Version[]): void {
  const users = new Map<Frame, number>()
  for (const { frame } of chain) users.set(frame, (users.get(frame) ?? 0) + 1)
  let ownBytes = 0
  for (const [frame, count] of users) {
    assert.equal(frame.users, count)
    if (frame.slab === undefined) ownBytes += frame.bytes.length
    else assertPlace(frames.slabs, frames.size, frame, frame.slab)
  }
  let [inUse, held] = [0, 0]
  for (const slab of frames.slabs) {
    const { free, freeCount } = slab
    const freePlaces = new Set(free.subarray(0, freeCount))
    assert.equal(freePlaces.size, freeCount)
    for (const [place, frame] of slab.frames.entries()) {
      assert.equal(frame === undefined, freePlaces.has(place))
      if (frame !== undefined) assert.ok(users.has(frame), 'a frame that nobody uses')
    }
    inUse += slab.frames.length - freeCount
    held += slab.frames.length
    const isRoomy = freeCount > 0 && slab !== frames.draining
    assert.equal(frames.roomy.filter((roomy) => roomy === slab).length, isRoomy ? 1 : 0)
  }
  assert.equal(frames.bytesInUse, inUse * frames.size + ownBytes)
  assert.equal(frames.bytesHeld, held * frames.size + ownBytes)
  assert.ok(frames.roomy.every((slab) => frames.slabs.includes(slab)))
  assert.ok(frames.draining === undefined || frames.slabs.includes(frames.draining))
}

function assertPlace(slabs: Slab[], size: number, frame: Frame, slab: Slab): void {
  assert.ok(slabs.includes(slab))
  assert.equal(slab.frames[frame.start / size], frame)
  assert.equal(frame.bytes, slab.bytes)
  assert.equal(frame.words, slab.words)
}

/** How many items the index leads to: each record in use has one slot, each other one is free. */
function indexedItems({ shards }: ItemIndex): number {
  let items = 0
  for (const { slots, records, used, free, size } of shards) {
    const taken = new Set([...slots].filter((slot) => slot > 0))
    assert.equal(taken.size, slots.filter((slot) => slot > 0).length)
    assert.equal(taken.size, size)
    const freeRecords = new Set<number>()
    for (let record = free; record > 0; record = records[record * recordWords - 1] ?? 0) {
      assert.ok(record <= used && !taken.has(record) && !freeRecords.has(record))
      freeRecords.add(record)
    }
    assert.equal(size + freeRecords.size, used)
    assert.ok(used * recordWords <= records.length)
    assert.ok(slots.includes(0), 'a search would not end')
    items += size
  }
  return items
}
