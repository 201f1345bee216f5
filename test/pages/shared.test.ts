/** Tests of what both pages share: the indentation and colours of JSON, and the description of a token. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { claimsOf } from '../../pages/shared/claims.js'
import { coloured } from '../../pages/shared/json-colours.js'
import { layOut } from '../../pages/shared/json-layout.js'
import { accepted } from '../corpora/json-values.js'

const laidOut = [
  ['{}', '{}'],
  ['[ ]', '[]'],
  ['-0.0', '-0.0'],
  ['{"a":1.0,"b" : [1e400,\n{}]}', '{\n  "a": 1.0,\n  "b": [\n    1e400,\n    {}\n  ]\n}'],
  ['["{,:[ \\" \\\\",null]', '[\n  "{,:[ \\" \\\\",\n  null\n]'],
  ['{"a":{"b', '{\n  "a": {\n    "b'],
  ['', ''],
] as const
for (const [text, expected] of laidOut) {
  test(`the JSON text ${text} is indented`, () => assert.equal(layOut(text), expected))
}

test('the indentation of deeply nested JSON is at most 100 times as long as the text', () => {
  assert.ok(layOut('['.repeat(5_000)).length < 5_000 * 100)
})

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

test('indentation changes no token of a JSON text, and colours no character, wherever it is cut off', () => {
  const tokensOf = (text: string) => text.match(/"(?:\\.|[^"\\])*"?|[^ \t\n\r]/gs)?.join('')
  const colouredText = (text: string) =>
    coloured(text)
      .map((part) => (typeof part === 'string' ? part : part.props.children))
      .join('')
  const check = (text: string) => {
    assert.equal(tokensOf(layOut(text)), tokensOf(text))
    assert.equal(colouredText(text), text)
  }
  for (const text of Object.values(accepted)) check(text)
  fc.assert(fc.property(fc.json(), fc.nat(), (text, length) => check(text.slice(0, length))))
})

test('the subject and expiry of a token are described in words', () => {
  const tokenOf = (claims: object) =>
    `x.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.x`
  const cases = [
    [{ exp: 1_000 + 3 * 86_400 }, 'expires in 3 days'],
    [{ exp: 1_000 + 7_100 }, 'expires in 1 hour'],
    [{ exp: 1_059.5 }, 'expires within a minute'],
    [{ exp: 999 }, 'expired just now'],
    [{ exp: 1_000 - 86_400 }, 'expired 1 day ago'],
  ] as const
  for (const [{ exp }, expiry] of cases) {
    const token = tokenOf({ sub: 'Zoë <b>', exp })
    assert.deepEqual(claimsOf(token, 1_000_000), { subject: 'Zoë <b>', expiry })
  }
  for (const text of ['', 'x.x.x', tokenOf({ sub: 'a' }), tokenOf({ sub: 1, exp: 1 })]) {
    assert.equal(claimsOf(text), undefined, text)
  }
})
