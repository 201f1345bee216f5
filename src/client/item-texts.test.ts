import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { jsonObject, jsonValue } from '../../test/support/json-text.js'
import { ItemStoreError } from './item-store-error.js'
import { TextResponse } from './item-texts.js'

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

function itemWith(members: string): string {
  return members.replace(
    /^{(?=(\s*}?))/,
    (_, rest: string) => `{"id":"1"${rest.endsWith('}') ? '' : ','}`,
  )
}

const item = jsonObject.map(itemWith)

/** Returns a response body with members that a later version may add (interface §9.3). */
function envelope(data: string, other = '1'): string {
  const alike = '"a,\\"data":[{"id":"0"}],"b,\\"data":{"id":"0"}'
  return `{"session_id":"s","before":${other},${alike},"data":${data},"message":"\\"data\\": {","after":${other}}`
}

function splitAt(text: string, places: readonly number[]): string[] {
  const ends = [...new Set(places.map((place) => place % text.length)), text.length].sort(
    (one, other) => one - other,
  )
  return ends.map((end, index) => text.slice(ends[index - 1] ?? 0, end))
}

test('item texts are extracted exactly, wherever the parts of the response end', async () => {
  const one = item.map((text) => ({ nesting: 1 as const, texts: [text], data: text }))
  const list = fc
    .array(item)
    .map((texts) => ({ nesting: 2 as const, texts, data: `[${texts.join(' ,')}]` }))
  const places = fc.array(fc.nat(), { maxLength: 5 })
  await fc.assert(
    fc.asyncProperty(fc.oneof(one, list), jsonValue, places, async (sent, other, places) => {
      const body = envelope(sent.data, other)
      for (const parts of [splitAt(body, places), [...body]]) {
        const expected = { texts: sent.texts, isComplete: true }
        assert.deepEqual(await cut(sent.nesting, parts), expected)
      }
    }),
    { numRuns: 300 },
  )
})

test('an item is yielded as soon as the part in which it ends has arrived, even before the list ends', async () => {
  const parts = oneByOne(['{"data":[{"id":"1"},{"id"', ':"2"}'])
  const texts = new TextResponse(new Response(), parts).texts()
  assert.deepEqual((await texts.next()).value, ['{"id":"1"}'])
  assert.deepEqual((await texts.next()).value, ['{"id":"2"}'])
  await assert.rejects(texts.next())
})

const nested = '['.repeat(100_000) + ']'.repeat(100_000)

const others = [
  ...['{"data":[1,2]}', '{"data":[[{}]]}', '{"data":[{"id":"1"},2,{"id":"3"}]}', '{"data":["a"]}'],
  ...['{"data":[{"a":1}]}', '', '{"session_id":"s"}', '{"data":null}', '{"data":{}}'],
  ...['{"a":{"data":[{}]}}', '{"a":"data","b":[{}]}', '{"data":"a"}', '{"data":[{"id":1}]}'],
  ...['{"data":[{"id":"1"}]', '{"data":[{"id":"1"},null]}', `{"data":${nested}}`],
]
test('a response that is cut off, or has no items, or more than items, is rejected', async () => {
  for (const text of others) {
    for (const nesting of [1, 2] as const) {
      const parts = text.length < 1000 ? [[text], [...text]] : [[text]]
      for (const each of parts) assert.equal((await cut(nesting, each)).isComplete, false, text)
    }
  }
})

const many = 300_000
const large = {
  'members that are arrays': `{${'"a":[],'.repeat(many)}"data":[{"id":"1"}]}`,
  'a member with brackets that are not JSON': `{"a":${'[]'.repeat(many)},"data":[{"id":"1"}]}`,
  'a deeply nested member': `{"a":${nested},"data":[{"id":"1"}]}`,
}

for (const [what, text] of Object.entries(large)) {
  test(`an envelope of megabytes is read in linear time: ${what}`, async () => {
    const parts = text.match(/.{1,65536}/g) ?? []
    assert.deepEqual((await cut(2, parts)).texts, ['{"id":"1"}'])
  })
}
