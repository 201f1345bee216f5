/** Tests of the indentation of JSON on the pages: only white space is added and removed. */

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
  test(`the JSON text ${text} is indented`, () => assert.equal(layOut(text), laidOut))
}

test('indentation changes no token of any kind of JSON value, even if the text is cut off', () => {
  for (const text of Object.values(accepted)) assert.equal(tokensOf(layOut(text)), tokensOf(text))
  fc.assert(
    fc.property(fc.json(), fc.nat(), (text, length) => {
      const start = text.slice(0, length)
      assert.equal(tokensOf(layOut(start)), tokensOf(start))
    }),
  )
})

test('the indentation of deeply nested JSON is at most 100 times as long as the text', () => {
  assert.ok(layOut('['.repeat(100_000)).length < 100_000 * 100)
})

/** Removes white space outside of JSON strings. */
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
