import assert from 'node:assert/strict'
import { test } from 'node:test'
import { conditionsOf } from './conditions.js'

test('a list of tags with a million blanks is rejected in linear time', () => {
  const text = `"a",${' \t'.repeat(500_000)}x`
  // If matching took quadratic time, this text would take an hour.
  assert.throws(() => conditionsOf({ 'if-none-match': text }), { code: 'BAD_REQUEST' })
})
