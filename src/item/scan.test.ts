import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { scanText } from './scan.js'

const faults: [text: string, offset: number, message: string][] = [
  ['', 0, 'expected a value, but the text ends here'],
  ['{"a":1,}', 7, 'expected a name in double quotes'],
  ['{"a":x}', 5, 'expected a value'],
  ['{"a" 1}', 5, 'expected a colon'],
  ['{"a":1 "b":2}', 7, 'expected a comma or "}"'],
  ['[{"a":{"b":1 "c":2}}]', 13, 'expected a comma or "}"'],
  ['{"a":{"b":[1 2]}}', 13, 'expected a comma or "]"'],
  ['{"a":1e+}', 8, 'expected a digit'],
  ['{} {}', 3, 'unexpected text after the value'],
  ['\ufeff{}', 0, 'expected a value'],
  ['"a\tb"', 2, 'control characters must be escaped'],
  ['"ab', 3, 'expected the closing quote of the string, but the text ends here'],
  ['"\\x"', 1, 'invalid escape; expected one of \\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX'],
  ['[[{"a":[{', 9, 'expected a name in double quotes, but the text ends here'],
]

for (const [text, offset, message] of faults) {
  test(`${JSON.stringify(text)} is not JSON: ${message}`, () => {
    const scan = () => scanText(Buffer.from(text), 2, () => undefined)
    assert.throws(scan, { name: 'JsonSyntaxError', offset, message })
  })
}

// For texts of two kinds: tokens in random order, and valid JSON with a few characters replaced.
const words = String.raw`{ } [ ] , : " "a" "\u0041" "\ud800" "\u00g0" "" 0 - 1.5 1e5 1E+ .5 01 true false null nul`
const odd = [
  ...' \n\t\\\u2028\u00a0\ufeff\u000b\u000c\u001f',
  '/* */',
  '//',
  "'",
  '+',
  '0x1F',
  '1_0',
  'NaN',
  'True',
]
const token = fc.constantFrom(...words.split(' '), ...odd)
const soup = fc.array(token, { maxLength: 12 }).map((tokens) => tokens.join(''))
const mutated = fc.tuple(fc.json(), fc.nat(), fc.nat(3), token).map(([json, at, cut, insert]) => {
  const place = at % (json.length + 1)
  return json.slice(0, place) + insert + json.slice(place + cut)
})

test('the scan accepts exactly the texts that `JSON.parse` accepts', () => {
  const accepts = (read: (text: string) => unknown, text: string) => {
    try {
      read(text)
      return true
    } catch (error) {
      if (error instanceof Error && /SyntaxError$/.test(error.name)) return false
      throw error
    }
  }
  const scan = (text: string) => scanText(Buffer.from(text), 2, () => undefined)
  fc.assert(
    fc.property(fc.oneof(soup, mutated, fc.json()), (text) => {
      assert.equal(accepts(scan, text), accepts(JSON.parse, text))
    }),
    { numRuns: 5000 },
  )
})

test('a million nested arrays and objects are accepted, and must be closed in their order', () => {
  const text = '[{"a":'.repeat(500_000) + '}]'.repeat(500_000).replace('}', '1}')
  scanText(Buffer.from(text), 2, () => undefined)
  const wrong = Buffer.from(text.replace('1}]', '1]}'))
  assert.throws(() => scanText(wrong, 2, () => undefined), { name: 'JsonSyntaxError' })
})

test('members are found down to the requested level, with exact positions of names and values', () => {
  const text = Buffer.from(' { "\\u0061" : [1, {"b": 2}] , "é":{"c":{"d":-0}},"":"}" } ')
  const shown: [number, string, string][] = []
  scanText(text, 2, ({ nameStart, nameEnd, valueStart, valueEnd }, depth) => {
    const name = text.toString('utf8', nameStart, nameEnd)
    shown.push([depth, name, text.toString('utf8', valueStart, valueEnd)])
  })
  assert.deepEqual(shown, [
    [1, '\\u0061', '[1, {"b": 2}]'],
    [2, 'c', '{"d":-0}'],
    [1, 'é', '{"c":{"d":-0}}'],
    [1, '', '"}"'],
  ])
})
