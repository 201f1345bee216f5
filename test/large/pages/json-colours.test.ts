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

test('colours change no character of a JSON text, wherever the text is cut off', () => {
  for (const text of Object.values(accepted)) assert.equal(textOf(text), text)
  fc.assert(
    fc.property(fc.json(), fc.nat(), (text, length) => {
      const start = text.slice(0, length)
      assert.equal(textOf(start), start)
    }),
  )
})

function textOf(text: string): string {
  return coloured(text)
    .map((part) => (typeof part === 'string' ? part : part.props.children))
    .join('')
}
