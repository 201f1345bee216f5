import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { JsonChecker } from './json-checker.js'
import { JsonSyntaxError } from './json-syntax.js'
import { scanText } from './scan.js'

function errorOf(text: string): JsonSyntaxError | undefined {
  try {
    scanText(Buffer.from(text), 2, () => undefined)
    return undefined
  } catch (error) {
    if (error instanceof JsonSyntaxError) return error
    throw error
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

const faults: [text: string, offset: number, message: string][] = [
  ['', 0, 'expected a value, but the text ends here'],
  ['{"a":1,}', 7, 'expected a name in double quotes'],
  ['{"a":x}', 5, 'expected a value'],
  ['{"a" 1}', 5, 'expected a colon'],
  ['{"a":1 "b":2}', 7, 'expected a comma or "}"'],
  ['{"a":[1 2]}', 8, 'expected a comma or "]"'],
  ['[{"a":{"b":1 "c":2}}]', 13, 'expected a comma or "}"'],
  ['{"a":{"b":[1 2]}}', 13, 'expected a comma or "]"'],
  ['{"a":[1,]}', 8, 'expected a value'],
  ['{"a":01}', 6, 'expected a comma or "}"'],
  ['{"a":1.}', 7, 'expected a digit'],
  ['{"a":-}', 6, 'expected a digit'],
  ['{"a":1e+}', 8, 'expected a digit'],
  ['{"a":tru}', 5, 'expected a value'],
  ['{} {}', 3, 'unexpected text after the value'],
  ['\ufeff{}', 0, 'expected a value'],
  ['"a\tb"', 2, 'control characters must be escaped'],
  ['"ab', 3, 'expected the closing quote of the string, but the text ends here'],
  ['"\\x"', 1, 'invalid escape; expected one of \\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX'],
  ['[[{"a":[{', 9, 'expected a name in double quotes, but the text ends here'],
]

for (const [text, offset, message] of faults) {
  test(`${JSON.stringify(text)} is not JSON: ${message}`, () => {
    const error = errorOf(text)
    assert.equal(error?.offset, offset)
    assert.equal(error?.message, message)
    assert.equal(isJson(text), false)
  })
}

// JSON tokens in any order, and valid JSON with a few characters replaced.
const words = String.raw`{ } [ ] , : " "a" "\u0041" "\ud800" "\u00g0" "" 0 - 1.5 1e5 1E+ .5 01 true false null nul`
const token = fc.constantFrom(...words.split(' '), ' ', '\n', '\\', '\u2028')
const soup = fc.array(token, { maxLength: 12 }).map((tokens) => tokens.join(''))
const mutated = fc.tuple(fc.json(), fc.nat(), fc.nat(3), token).map(([json, at, cut, insert]) => {
  const place = at % (json.length + 1)
  return json.slice(0, place) + insert + json.slice(place + cut)
})

const almostJson = fc.oneof(soup, mutated, fc.json())

test('the scan accepts exactly the texts that `JSON.parse` accepts', () => {
  fc.assert(
    fc.property(almostJson, (text) => {
      assert.equal(errorOf(text) === undefined, isJson(text))
    }),
    { numRuns: 5000 },
  )
})

test('a text that arrives in parts has the same members and the same error as in one piece', () => {
  fc.assert(
    fc.property(almostJson, fc.array(fc.nat(), { maxLength: 6 }), (text, places) => {
      const bytes = Buffer.from(text)
      const cuts = places.map((place) => place % (bytes.length + 1)).sort((one, two) => one - two)
      const each = Array.from(bytes, (_, place) => place)
      for (const ends of [cuts, each]) assert.deepEqual(foundIn(bytes, ends), foundIn(bytes, []))
    }),
    { numRuns: 2000 },
  )
})

/** @param cuts positions at which the parts of the text end. */
function foundIn(text: Buffer, cuts: readonly number[]): unknown[] {
  const found: unknown[] = []
  const checker = new JsonChecker(2, (member, depth) => found.push({ ...member, depth }))
  try {
    for (const known of [...cuts, text.length]) {
      const { position } = checker
      checker.read(text.subarray(position, known), position, known === text.length)
    }
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error
    found.push(error.message, error.offset)
  }
  return found
}

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

test('a million nested arrays do not overflow the call stack', () => {
  const depth = 1_000_000
  const text = Buffer.from('['.repeat(depth) + ']'.repeat(depth))
  scanText(text, 2, () => undefined)
  assert.throws(() => scanText(text.subarray(0, -1), 2, () => undefined), JsonSyntaxError)
})
