import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newUuid } from './id.js'

test('10,000 new UUIDs are unique, have version 4, and vary in every digit', () => {
  const all = Array.from({ length: 10_000 }, newUuid)
  for (const uuid of all) {
    assert.match(uuid, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  }
  assert.equal(new Set(all).size, all.length)
  for (const place of [0, 1, 7, 9, 12, 15, 17, 20, 22, 24, 35]) {
    assert.equal(new Set(all.map((uuid) => uuid[place])).size, 16, `digit ${place}`)
  }
})
