/** Tests of how the items page reads JSON: values, members, errors, and files to import. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { checkDraft, isSameItem, requestBody } from '../../pages/items/model/draft.js'
import { itemOf, projectOf } from '../../pages/items/model/item.js'
import { lastMembers } from '../../pages/items/model/members.js'
import { shownValue } from '../../pages/items/model/values.js'
import { readEntries } from '../../pages/items/service/files.js'
import { UsageError } from '../../src/config/usage-error.js'
import { parseSeed } from '../../src/doubles/seed.js'
import { newItemId } from '../../src/item/id.js'
import { encodeItem, parseItemRequest } from '../support/item-text.js'
import { jsonObject } from '../support/json-text.js'

const raw = String.raw
const atOnce = () => undefined

test('the id and project of an item are found even if their names or values have escapes', () => {
  const text = raw`{"\u0069d":"a","project_id":"p\u0071","id ":1}`
  assert.deepEqual(itemOf(text), { id: 'a', text })
  assert.equal(projectOf({ id: 'a', text }), 'pq')
  assert.equal(projectOf(itemOf('{"id":"a","project_id":null}')), null)
  assert.throws(() => itemOf('{"project_id":null}'), /without an id/)
})

test('a cell shows strings without quotes unless they need quotes, and objects and arrays on one line', () => {
  const members = {
    plain: ['"a"', 'a'],
    digits: ['"1"', '"1"'],
    control: [raw`"\u00e4\n\ud800"`, raw`"ä\n\ud800"`],
    escaped: [`"${raw`\u00e4`.repeat(99)}"`, `${'ä'.repeat(33)}…`],
    broken: [`"${'🎉'.repeat(110)}"`, `${'🎉'.repeat(99)}…`],
    backslashes: [`"${raw`\\`.repeat(110)}"`, `${'\\'.repeat(99)}…`],
    number: ['-1.0e400', '-1.0e400'],
    object: ['{"a":{"b":1.0,"c":[2,3]},"d":","}', '{"a":{"b":1.0,"c":[2,3]},"d":","}'],
    lines: [`[\n  1,\r\n\t{"a": "x  y\\n"}\n]`, '[1,{"a": "x  y\\n"}]'],
    long: [`[${'"x",'.repeat(999)}1]`, `[${'"x",'.repeat(49)}"x"…`],
  }
  const texts = Object.entries(members).map(([name, [text]]) => `"${name}":${text}`)
  const item = `{"id":"x",${texts} }`
  const found = lastMembers(item)
  for (const [name, [, short]] of Object.entries(members)) {
    const member = found.get(name) ?? assert.fail(name)
    assert.equal(shownValue(item, member).short, short, name)
  }
})

const projectRule = 'project_id must be a string of at least 1 character, or null'

const drafts = [
  ['{"a":"😀"}', ''],
  ['', 'error 0-0 expected a value, but the text ends here'],
  ['{"ä": 01}', 'error 7-8 expected a comma or "}"'],
  ['["ä😀", x]', 'error 8-9 expected a value'],
  ['["ä', 'error 2-3 expected the closing quote of the string, but the text ends here'],
  ['["ä\ud800"]', 'error 3-4 half a character; write it as \\uXXXX'],
  [' [1]', 'error 1-2 an item must be an object'],
  ['{"a":1},"data":{}', 'error 7-8 unexpected text after the value'],
  ['{"project_id":""}', `error 14-16 ${projectRule}`],
  ['{"project_id":7,"project_id":"p"}', 'warning 1-15 only the last "project_id" is kept'],
  [raw`{"a":1,"\u0061":2}`, 'warning 1-6 only the last "a" is kept'],
  ['{"id":"x"}', ''],
  ['{"id":"y"}', 'warning 1-9 the service makes the id; this one is dropped'],
] as const
for (const [text, expected] of drafts) {
  test(`the draft ${JSON.stringify(text)} has ${expected || 'no problems'}`, () => {
    const found = checkDraft(text, 'x').map(
      ({ severity, from, to, message }) => `${severity} ${from}-${to} ${message}`,
    )
    assert.equal(found.join(), expected)
  })
}

describe('the request for a draft creates exactly the item that the draft shows', () => {
  const id = newItemId()
  const itemFrom = (draft: string) =>
    encodeItem(id, parseItemRequest(Buffer.from(requestBody(draft)))).toString()
  const drafts = [
    ['{}', 'null}'],
    ['{ "project_id": "p", "a" : 1 , "b":2 }', '"p","a" : 1 , "b":2}'],
    ['{"a":1,\n"\\u0069d":"x"}', 'null,"a":1}'],
    ['{"t":1,"id":"x","project_id":"p","a":2}', '"p","t":1,"a":2}'],
    ['{"t":1 ,\n "id":"x",\n "a" : 2}', 'null,"t":1 ,\n "a" : 2}'],
    ['{"project_id":7,"project_id":null,"a":1}', 'null,"a":1}'],
    ['{"data":{"a":1},"project_id":"p"}', '"p","data":{"a":1}}'],
    [
      raw`{"__proto__":{"c":[-0]},"2":1e400,"1":"\ud800","x":{"id":1,"id":2}}`,
      raw`null,"__proto__":{"c":[-0]},"2":1e400,"1":"\ud800","x":{"id":1,"id":2}}`,
    ],
  ] as const
  for (const [draft, item] of drafts) {
    test(JSON.stringify(draft), () => {
      assert.equal(itemFrom(draft), `{"id":"${id}","project_id":${item}`)
      // Saving the stored item again without a change yields the same text.
      assert.equal(itemFrom(itemFrom(draft)), itemFrom(draft))
      assert.ok(isSameItem(itemFrom(draft), draft))
      assert.ok(!isSameItem(itemFrom('{"other":1}'), draft))
    })
  }

  test('the request for any draft creates an item that stays the same when it is saved again', () => {
    fc.assert(
      fc.property(jsonObject, (draft) => {
        if (/\p{Surrogate}/u.test(draft)) return
        if (checkDraft(draft).some(({ severity }) => severity === 'error')) return
        const item = itemFrom(draft)
        assert.equal(itemFrom(item), item)
      }),
    )
  })
})

describe('a file to import is read as `dev --seed` reads it', () => {
  const files = [
    '[{"a":1},\n {"b":2}]',
    '{"a":1}\r\n\r\n{"b":2}',
    '\ufeff[{"a":1}]',
    '{"data":{"a":1},"project_id":"p"}',
    '{"id":7,"project_id":"p\\u0071","a":1}',
    raw`[{"n":12345678901234567890,"d":1.0,"e":1e400,"__proto__":{},"2":0,"1":"\u0041 \ud800"}]`,
    '{"data":7,"data":{}}',
    '{"a":1}\n{"ä": x}',
    '[{},\n  {"data":7}]',
    '{"a":1}\n{"a":1,"project_id":""}',
    '{"project_id":[]}',
  ]
  for (const file of files) {
    test(JSON.stringify(file), async () => {
      const bytes = Buffer.from(file)
      const id = newItemId()
      let expected: unknown
      try {
        expected = parseSeed(bytes).map((request) => JSON.parse(encodeItem(id, request).toString()))
      } catch (error) {
        assert.ok(error instanceof UsageError)
      }
      if (expected === undefined) {
        await assert.rejects(readEntries(bytes, atOnce), /^Error: line \d+, column \d+: /)
        return
      }
      const entries = await readEntries(bytes, atOnce)
      const items = entries.map(({ body }) => encodeItem(id, parseItemRequest(Buffer.from(body))))
      assert.deepEqual(
        items.map((item) => JSON.parse(item.toString())),
        expected,
      )
      for (const item of items)
        assert.ok(!file.includes('1.0') || item.includes('567890,"d":1.0,"e":1e400'))
    })
  }

  test('an import file with bytes that are not UTF-8 is rejected', async () => {
    await assert.rejects(readEntries(Buffer.from('{"a":"\xff"}', 'latin1'), atOnce), /not in UTF-8/)
  })
})
