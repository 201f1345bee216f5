import assert from 'node:assert/strict'
import { test } from 'node:test'
import { conditionsOf } from './conditions.js'

test('a list of tags with a million blanks is rejected in linear time', () => {
  const text = `"a",${' \t'.repeat(500_000)}x`
  // A pattern that takes quadratic time would need an hour for this text.
  assert.throws(() => conditionsOf({ 'if-none-match': text }), { code: 'BAD_REQUEST' })
})
