/** Tests of JSON colouring on the pages: kinds of tokens have different colours, and no character changes. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { coloured } from '../../../pages/shared/json-colours.js'
import { accepted } from '../../corpora/json-values.js'

test('names, strings, numbers and literals have different colours', () => {
  const text = '{"a\\"" : ["b:", -1.5e+3, true, null], "{": {}, "cut'
  const kinds = coloured(text)
    .filter((part) => typeof part !== 'string')
    .map(({ props }) => [props.class, props.children])
  assert.deepEqual(kinds, [
    ['json-name', '"a\\""'],
    ['json-string', '"b:"'],
    ['json-number', '-1.5e+3'],
    ['json-literal', 'true'],
    ['json-literal', 'null'],
    ['json-name', '"{"'],
    ['json-string', '"cut'],
  ])
})

test('keywords of code samples have the colour of literals, but not within other words', () => {
  const spans = coloured('const news = await from(None) // "new"').filter(
    (part) => typeof part !== 'string',
  )
  assert.deepEqual(
    spans.map(({ props }) => props.children),
    ['const', 'await', 'from', 'None', '"new"'],
  )
})

test('colours change no character of a JSON text, wherever the text is cut off', () => {
  for (const text of Object.values(accepted)) assert.equal(textOf(text), text)
  fc.assert(
    fc.property(fc.json(), fc.nat(), (text, length) => {
      const start = text.slice(0, length)
      assert.equal(textOf(start), start)
    }),
  )
})

test('a long JSON text is shown whole, with colours only at its start', () => {
  const long = `[${'1,'.repeat(1_000_000)}1]`
  assert.ok(textOf(long) === long)
  assert.ok(coloured(long).length < 50_000)
})

function textOf(text: string): string {
  return coloured(text)
    .map((part) => (typeof part === 'string' ? part : part.props.children))
    .join('')
}
