import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { jsonObject, jsonValue } from '../../test/support/json-text.js'
import { ItemStoreError } from './item-store-error.js'
import { TextResponse } from './item-texts.js'

/** What is cut out of the parts of an envelope, and whether it was a whole one. */
async function cut(nesting: 1 | 2, parts: readonly string[]) {
  const response = new TextResponse(new Response(), oneByOne(parts))
  const texts: string[] = []
  try {
    for await (const some of response.texts(nesting)) texts.push(...some)
    return { texts, isComplete: true }
  } catch (error) {
    assert.ok(error instanceof ItemStoreError)
    return { texts, isComplete: false }
  }
}

async function* oneByOne(parts: readonly string[]): AsyncGenerator<string, void, void> {
  yield* parts
}

/** The text of an item with these members. */
function itemWith(members: string): string {
  return members.replace(
    /^{(?=(\s*}?))/,
    (_, rest: string) => `{"id":"1"${rest.endsWith('}') ? '' : ','}`,
  )
}

const item = jsonObject.map(itemWith)

/** An envelope around the text of `data`, and around other members that it may have one day (§9.3). */
function envelope(data: string, other = '1'): string {
  const alike = '"a,\\"data":[{"id":"0"}],"b,\\"data":{"id":"0"}'
  return `{"session_id":"s","before":${other},${alike},"data":${data},"message":"\\"data\\": {","after":${other}}`
}

/** The text, broken at these places. */
function broken(text: string, places: readonly number[]): string[] {
  const ends = [...new Set(places.map((place) => place % text.length)), text.length].sort(
    (one, other) => one - other,
  )
  return ends.map((end, index) => text.slice(ends[index - 1] ?? 0, end))
}

describe('the texts that are cut out are those of the items, wherever the parts of the response end', () => {
  test('of a list', async () => {
    const places = fc.array(fc.nat(), { maxLength: 5 })
    await fc.assert(
      fc.asyncProperty(fc.array(item), jsonValue, places, async (items, other, places) => {
        const parts = broken(envelope(`[${items.join(' ,')}]`, other), places)
        assert.deepEqual(await cut(2, parts), { texts: items, isComplete: true })
      }),
      { numRuns: 2_000 },
    )
  })

  test('of a single item, part after part of one character', async () => {
    await fc.assert(
      fc.asyncProperty(item, jsonValue, async (item, other) => {
        const parts = [...envelope(item, other)]
        assert.deepEqual(await cut(1, parts), { texts: [item], isComplete: true })
      }),
      { numRuns: 1_000 },
    )
  })
})

test('an item is cut out in the part in which it ends, and not at the end of the list', async () => {
  const parts = oneByOne(['{"data":[{"id":"1"},{"id"', ':"2"}'])
  const texts = new TextResponse(new Response(), parts).texts()
  assert.deepEqual((await texts.next()).value, ['{"id":"1"}'])
  assert.deepEqual((await texts.next()).value, ['{"id":"2"}'])
  await assert.rejects(texts.next())
})

const nested = '['.repeat(100_000) + ']'.repeat(100_000)

const incomplete: { title: string; text: string }[] = [
  { title: 'a list of numbers', text: '{"data":[1,2,3]}' },
  { title: 'a list of texts', text: '{"data":["a"]}' },
  { title: 'a list of null', text: '{"data":[null]}' },
  { title: 'a list of lists', text: '{"data":[[{}]]}' },
  { title: 'a number behind an item', text: '{"data":[{"id":"1"},2]}' },
  { title: 'a number between items', text: '{"data":[{"id":"1"},2,{"id":"3"}]}' },
  { title: 'items without a comma', text: '{"data":[{"id":"1"}{"id":"1"}]}' },
  { title: 'a comma alone', text: '{"data":[,]}' },
  { title: 'a comma at the end', text: '{"data":[{"id":"1"},]}' },
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
  { title: 'an array alone', text: '[{"id":"1"}]' },
  { title: 'an object', text: '{"data":{}}' },
  { title: 'an array of arrays, 100,000 deep', text: `{"data":${nested}}` },
  { title: 'an object of items', text: '{"data":{"a":{"id":"1"}}}' },
  { title: 'an item without an id', text: '{"data":[{"a":1}]}' },
  { title: 'half an envelope', text: '{"data":[{"id":"1"}]' },
]
for (const { title, text } of incomplete) {
  test(`is not complete: ${title}`, async () => {
    assert.equal((await cut(2, [text])).isComplete, false)
    if (text.length < 1000) assert.equal((await cut(2, [...text])).isComplete, false)
  })
}

const many = 300_000
const large = {
  'members that are arrays': `{${'"a":[],'.repeat(many)}"data":[{"id":"1"}]}`,
  'a member of brackets that are not JSON': `{"a":${'[]'.repeat(many)},"data":[{"id":"1"}]}`,
  'a member that is nested': `{"a":${nested},"data":[{"id":"1"}]}`,
}
for (const [what, text] of Object.entries(large)) {
  test(`an envelope of megabytes is read in linear time: ${what}`, async () => {
    // In quadratic time it would take minutes.
    const parts = text.match(/.{1,65536}/g) ?? []
    assert.deepEqual((await cut(2, parts)).texts, ['{"id":"1"}'])
  })
}
