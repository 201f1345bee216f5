/** The layout of JSON in the pages: white space, and nothing else, is added and taken away. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { layOut } from '../../../pages/shared/json-layout.js'
import { accepted } from '../../corpora/json-values.js'

const cases = [
  { text: '{}', laidOut: '{}' },
  { text: '[ ]', laidOut: '[]' },
  { text: '-0.0', laidOut: '-0.0' },
  {
    text: '{"a":1.0,"b" : [1e400,\n{}]}',
    laidOut: '{\n  "a": 1.0,\n  "b": [\n    1e400,\n    {}\n  ]\n}',
  },
  { text: '["{,:[ \\" \\\\",null]', laidOut: '[\n  "{,:[ \\" \\\\",\n  null\n]' },
  { text: '{"a":{"b', laidOut: '{\n  "a": {\n    "b' },
  { text: '', laidOut: '' },
]
for (const { text, laidOut } of cases) {
  test(`${text} is laid out`, () => assert.equal(layOut(text), laidOut))
}

test('every token of every kind of value stays as it was written', () => {
  for (const text of Object.values(accepted)) assert.equal(tokensOf(layOut(text)), tokensOf(text))
  fc.assert(
    fc.property(fc.json(), (text) => {
      assert.equal(tokensOf(layOut(text)), tokensOf(text))
      assert.deepEqual(JSON.parse(layOut(text)), JSON.parse(text))
    }),
  )
})

test('a text that ends anywhere is laid out as far as it goes', () => {
  fc.assert(
    fc.property(fc.json(), fc.nat(), (text, length) => {
      const start = text.slice(0, length)
      assert.equal(tokensOf(layOut(start)), tokensOf(start))
    }),
  )
})

test('a string with millions of escapes is laid out', () => {
  const long = `"${'\\n'.repeat(8_000_000)}"`
  assert.ok(layOut(`[${long}]`) === `[\n  ${long}\n]`)
})

test('deep nesting makes it longer, but not out of proportion', () => {
  assert.ok(layOut('['.repeat(100_000)).length < 100_000 * 100)
})

/** The text without the white space outside of strings. */
function tokensOf(text: string): string {
  let isInside = false
  let isEscaped = false
  let tokens = ''
  for (const sign of text) {
    if (isInside || !/[ \t\n\r]/.test(sign)) tokens += sign
    if (sign === '"' && !isEscaped) isInside = !isInside
    isEscaped = isInside && sign === '\\' && !isEscaped
  }
  return tokens
}
