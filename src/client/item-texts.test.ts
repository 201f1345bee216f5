import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { jsonObject, jsonValue } from '../../test/support/json-text.js'
import { createCutter, type Nesting } from './item-texts.js'

/** What is cut out of the parts of an envelope. */
function cut(nesting: Nesting, parts: readonly string[]) {
  const cutter = createCutter(nesting)
  return { texts: parts.flatMap((part) => cutter.cut(part)), isComplete: cutter.isComplete() }
}

/** An envelope around the text of `data`, and around other members that it may have one day (§9.3). */
function envelope(data: string, other = '1'): string {
  return `{"session_id":"s","before":${other},"data":${data},"message":"\\"data\\": {","after":${other}}`
}

/** The text, broken at these places. */
function broken(text: string, places: readonly number[]): string[] {
  const ends = [...new Set(places.map((place) => place % text.length)), text.length].sort(
    (one, other) => one - other,
  )
  return ends.map((end, index) => text.slice(ends[index - 1] ?? 0, end))
}

describe('the texts that are cut out are those of the items, wherever the parts of the response end', () => {
  test('of a list', () => {
    const places = fc.array(fc.nat(), { maxLength: 5 })
    fc.assert(
      fc.property(fc.array(jsonObject), jsonValue, places, (items, other, places) => {
        const parts = broken(envelope(`[${items.join(' ,')}]`, other), places)
        assert.deepEqual(cut(2, parts), { texts: items, isComplete: true })
      }),
      { numRuns: 2_000 },
    )
  })

  test('of a single item, part after part of one character', () => {
    fc.assert(
      fc.property(jsonObject, jsonValue, (item, other) => {
        const parts = [...envelope(item, other)]
        assert.deepEqual(cut(1, parts), { texts: [item], isComplete: true })
      }),
      { numRuns: 1_000 },
    )
  })
})

describe('an item is cut out in the part in which it ends', () => {
  test('and not at the end of the list', () => {
    const cutter = createCutter(2)
    assert.deepEqual(cutter.cut('{"data":[{"a":1},{"b"'), ['{"a":1}'])
    assert.deepEqual(cutter.cut(':2}'), ['{"b":2}'])
    assert.equal(cutter.isComplete(), false)
  })
})

const incomplete: { title: string; text: string }[] = [
  { title: 'a list of numbers', text: '{"data":[1,2,3]}' },
  { title: 'a list of texts', text: '{"data":["a"]}' },
  { title: 'a list of null', text: '{"data":[null]}' },
  { title: 'a list of lists', text: '{"data":[[{}]]}' },
  { title: 'a number behind an item', text: '{"data":[{"a":1},2]}' },
  { title: 'a number between items', text: '{"data":[{"a":1},2,{"a":3}]}' },
  { title: 'items without a comma', text: '{"data":[{"a":1}{"a":1}]}' },
  { title: 'a comma alone', text: '{"data":[,]}' },
  { title: 'a comma at the end', text: '{"data":[{"a":1},]}' },
  { title: 'text before the envelope', text: 'x{"data":[]}' },
  { title: 'text behind the envelope', text: '{"data":[]}x' },
  { title: 'two envelopes', text: '{"data":[]}{"data":[]}' },
  { title: 'a member that is not JSON', text: '{"data":[],"a":b}' },
  { title: 'nothing', text: '' },
  { title: 'a page', text: '<html><style>a { b: c }</style><p>"data"</p></html>' },
  { title: 'an envelope without data', text: '{"session_id":"s"}' },
  { title: 'no data', text: '{"data":null}' },
  { title: 'data further down', text: '{"a":{"data":[{}]}}' },
  { title: 'data as a value', text: '{"a":"data","b":[{}]}' },
  { title: 'an error', text: '{"detail":{"data":{}}}' },
  { title: 'an array alone', text: '[{"a":1}]' },
  { title: 'half an envelope', text: '{"data":[{"a":1}]' },
]
for (const { title, text } of incomplete) {
  test(`is not complete: ${title}`, () => {
    assert.equal(cut(2, [text]).isComplete, false)
    assert.equal(cut(2, [...text]).isComplete, false)
  })
}
