import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newItemId, parseItemId } from './id.js'

test('an id is a UUID in either letter case, and nothing else is', () => {
  const id = newItemId()
  assert.equal(parseItemId(id), id)
  assert.equal(parseItemId(id.toUpperCase()), id)
  for (const text of ['', 'x', `${id}0`, ` ${id}`, id.replaceAll('-', ''), `${id}\n`]) {
    assert.equal(parseItemId(text), undefined)
  }
})
