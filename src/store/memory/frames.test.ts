/** Tests the limit on mappings. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isMapped, mapped } from '../../memory/mapped.js'
import { FramePool } from './frames.js'

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
