import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newUuid } from './id.js'

test('10,000 new UUIDs are unique, have version 4, and vary in every random digit', () => {
  const all = Array.from({ length: 10_000 }, newUuid)
  assert.equal(new Set(all).size, all.length)
  const form = 'xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx' // the two highest bits of `y` are the variant
  const digits: Record<string, string> = { x: '0123456789abcdef', y: '89ab' }
  for (const [place, kind] of [...form].entries()) {
    const seen = new Set(all.map((uuid) => uuid[place]))
    assert.equal([...seen].sort().join(''), digits[kind] ?? kind, `place ${place}`)
  }
})
