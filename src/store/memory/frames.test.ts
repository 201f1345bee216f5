/** Tests that the memory of a frame returns to the system, but never while a list reads the frame. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isMapped, mapped } from '../../memory/mapped.js'
import { type Frame, FramePool } from './frames.js'

const size = 64 * 1024

function taken(pool: FramePool, count: number): Frame[] {
  return Array.from({ length: count }, (_, place) => {
    const frame = pool.take()
    frame.bytes.writeUInt32LE(place, frame.start)
    frame.bytes.writeUInt32LE(place, frame.start + size - 4)
    return frame
  })
}

function assertContent(frame: Frame = assert.fail(), place: number): void {
  assert.equal(frame.bytes.readUInt32LE(frame.start), place)
  assert.equal(frame.bytes.readUInt32LE(frame.start + size - 4), place)
}

test('a frame that an open list has read is not moved until the list is released', () => {
  const pool = new FramePool(size)
  const frames = taken(pool, 4000)
  const read = frames.filter((_, place) => place % 50 === 0)
  for (const frame of read) frame.readBy = 1
  pool.pinnedFrom = 1
  const places = read.map(({ slab, start }) => ({ slab, start }))
  for (const [place, frame] of frames.entries()) if (place % 50 !== 0) pool.release(frame)
  assert.equal(pool.bytesInUse, 80 * size)
  for (const [place, frame] of read.entries()) {
    assert.deepEqual({ slab: frame.slab, start: frame.start }, places[place])
    assertContent(frame, place * 50)
  }
  pool.pinnedFrom = 2
  for (const frame of taken(pool, 4000)) pool.release(frame)
  assert.ok(pool.bytesHeld <= 600 * size, `${pool.bytesHeld / size} frames held`)
  for (const [place, frame] of read.entries()) assertContent(frame, place * 50)
})

test('mapped bytes are copied into unmapped memory once 16,384 frames have their own mapping', () => {
  const pool = new FramePool(64)
  const frames = Array.from({ length: 16_385 }, (_, place) => {
    const bytes = mapped(8)
    bytes.writeUInt32LE(place)
    return pool.takeOwn(bytes)
  })
  for (const [place, { bytes }] of frames.entries()) {
    assert.equal(bytes.readUInt32LE(0), place)
    assert.equal(isMapped(bytes), place < 16_384)
  }
})
