import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { jsonObject, jsonValue } from '../../test/support/json-text.js'
import { newItemId, parseItemId } from './id.js'
import { encodeItem, InvalidItemError, parseItemRequest } from './item-request.js'

const id = newItemId()

/** The item that a body becomes, without the opening of every item. */
function itemOf(body: string): string {
  const text = encodeItem(id, parseItemRequest(Buffer.from(body))).toString()
  const opening = `{"id":"${id}","project_id":`
  assert.ok(text.startsWith(opening), text)
  return text.slice(opening.length)
}

const kept = [
  {
    what: 'numbers beyond double precision',
    body: '{"data":{"n":12345678901234567890,"m":1e400}}',
  },
  { what: 'the spelling of numbers', body: '{"data":{"a":1.0,"b":-0,"c":1E+2,"d":0.10}}' },
  { what: 'the order of members', body: '{"data":{"b":1,"2":2,"a":3,"1":4}}' },
  {
    what: 'names that JavaScript treats specially',
    body: '{"data":{"__proto__":{},"constructor":1}}',
  },
  { what: 'escapes and lone surrogates', body: '{"data":{"a":"\\u0041\\/\\ud800","\\u0062":1}}' },
  { what: 'space inside data', body: '{"data":{"a" :\t[1 , 2],\r\n"b":{ }}}' },
]

for (const { what, body } of kept) {
  test(`keeps ${what}`, () => {
    assert.equal(itemOf(body), `null,${body.slice('{"data":{'.length, -2)}}`)
  })
}

const cut = [
  { what: 'an empty data', body: '{"data":{ }}', item: 'null}' },
  { what: 'id in data', body: '{"data":{"id":1,"a":2}}', item: 'null,"a":2}' },
  { what: 'project_id in data', body: '{"data":{"a":2,"project_id":1}}', item: 'null,"a":2}' },
  { what: 'id written with escapes', body: '{"data":{"\\u0069d":1,"a":2}}', item: 'null,"a":2}' },
  {
    what: 'id given twice',
    body: '{"data":{"id":1,"a":2,"\\u0069\\u0064":3}}',
    item: 'null,"a":2}',
  },
  { what: 'nothing but id', body: '{"data":{"id":1}}', item: 'null}' },
  {
    what: 'a member given twice',
    body: '{"data":{"a":1,"b":2,"\\u0061":3}}',
    item: 'null,"b":2,"\\u0061":3}',
  },
  { what: 'data given twice', body: '{"data":{"a":1},"d\\u0061ta":{"b":2}}', item: 'null,"b":2}' },
  {
    what: 'data that is not an object at first',
    body: '{"data":7,"data":{"b":2}}',
    item: 'null,"b":2}',
  },
  {
    what: 'a project_id',
    body: '{"data":{"a":1},"project_id":"p\\u0071"}',
    item: '"p\\u0071","a":1}',
  },
  { what: 'a null project_id', body: '{"data":{},"project_id":null}', item: 'null}' },
  { what: 'project_id twice', body: '{"project_id":"","data":{},"project_id":"b"}', item: '"b"}' },
  {
    what: 'an object after an empty data',
    body: '{"data":{},"x":{"a":1},"project_id":"b"}',
    item: '"b"}',
  },
  {
    what: 'data given twice, the last one empty',
    body: '{"data":{"a":1},"data":{},"x":{"a":2}}',
    item: 'null}',
  },
  {
    what: 'unknown members',
    body: '{"x":[{"data":1}],"data":{"a":1},"id":2}',
    item: 'null,"a":1}',
  },
]

for (const { what, body, item } of cut) {
  test(`${what}: ${body}`, () => assert.equal(itemOf(body), item))
}

const refused = [
  { body: '', message: /^The body is empty/ },
  { body: '{"data": {"a":\n  1,}}', message: /not valid JSON: line 2, column 5: expected a name/ },
  { body: '{"data":{"é":x}}', message: /line 1, column 14: expected a value/ },
  { body: '[]', message: /the body must be an object/ },
  { body: 'null', message: /the body must be an object/ },
  { body: '{}', message: /data is missing; put the item's members in it$/ },
  { body: '{"data":[]}', message: /data must be an object/ },
  { body: '{"data":null}', message: /data must be an object/ },
  { body: '{"data":{},"data":1}', message: /data must be an object/ },
  { body: '{"__proto__":{"data":{}}}', message: /data is missing/ },
  {
    body: '{"data":{},"project_id":""}',
    message: /project_id must have at least 1 character/,
  },
  { body: '{"data":{},"project_id":7}', message: /project_id must be a string/ },
]

for (const { body, message } of refused) {
  test(`refuses ${JSON.stringify(body)}`, () => {
    assert.throws(() => parseItemRequest(Buffer.from(body)), { name: 'InvalidItemError', message })
  })
}

test('refuses bytes that are not UTF-8', () => {
  const surrogate = Buffer.from('{"data":{"a":"\xed\xa0\x80"}}', 'latin1')
  assert.throws(() => parseItemRequest(surrogate), InvalidItemError)
})

describe('any data object', () => {
  test('means the same in the item, except for id and project_id', () => {
    fc.assert(
      fc.property(jsonObject, (data) => {
        const item = JSON.parse(`{"x":${itemOf(`{"data":${data}}`)}`)
        const { x, ...members } = item
        const expected = JSON.parse(data)
        delete expected.id
        delete expected.project_id
        assert.equal(x, null)
        // As maps, since in an object written here __proto__ would not be a member.
        assert.deepEqual(new Map(Object.entries(members)), new Map(Object.entries(expected)))
      }),
      { numRuns: 2000 },
    )
  })

  test('has the members of data, whatever stands next to it', () => {
    const key = fc.constantFrom('data', 'd\\u0061ta', 'project_id', 'x', 'y', '__proto__')
    const value = fc.oneof(jsonObject, fc.constantFrom('{}', '"a"', 'null', '[{"a":1}]'))
    const field = fc.tuple(key, value).map(([name, text]) => `"${name}":${text}`)
    fc.assert(
      fc.property(fc.array(field, { maxLength: 5 }), jsonObject, (fields, data) => {
        const body = `{${[...fields, '"project_id":"a"', `"data":${data}`, ...fields].join(',')}}`
        const { data: expected, project_id: project } = JSON.parse(body)
        const isProject = project === null || (typeof project === 'string' && project !== '')
        if (expected === null || Array.isArray(expected) || typeof expected !== 'object') return
        if (!isProject) return
        const { x, ...members } = JSON.parse(`{"x":${itemOf(body)}`)
        assert.equal(x, project)
        const { id: _, project_id: __, ...kept } = expected
        assert.deepEqual(new Map(Object.entries(members)), new Map(Object.entries(kept)))
      }),
      { numRuns: 2000 },
    )
  })

  test('keeps of every name the last member, however many there are', () => {
    const letter = fc.constantFrom('a', '\\u0061', 'b', 'é', '\\u00e9', '\\ud800', '\\ud801', '�')
    const name = fc.array(letter, { maxLength: 2 }).map((letters) => letters.join(''))
    fc.assert(
      fc.property(fc.array(name, { minLength: 1, maxLength: 200 }), (names) => {
        const members = names.map((each, place) => `"${each}":${place}`)
        const last = new Map(names.map((each, place) => [JSON.parse(`"${each}"`), place]))
        const expected = members.filter((_, place) => [...last.values()].includes(place))
        assert.equal(itemOf(`{"data":{${members}}}`), `null,${expected}}`)
      }),
      { numRuns: 500 },
    )
  })

  test('keeps the very text of every value', () => {
    fc.assert(
      fc.property(fc.array(jsonValue, { minLength: 1, maxLength: 5 }), (values) => {
        const members = values.map((value, place) => `"m${place}":${value}`).join(',')
        assert.equal(itemOf(`{"data":{${members}}}`), `null,${members}}`)
      }),
      { numRuns: 2000 },
    )
  })
})

test('names of lone surrogates are distinguished, and quickly', () => {
  const hex = (unit: number) => `\\u${unit.toString(16)}`
  const names = Array.from({ length: 40_000 }, (_, place) => {
    return `"${hex(0xd800 + (place >> 8))}${hex(0xdc00 - 1 - (place & 0xff))}":1`
  })
  assert.equal(itemOf(`{"data":{${names}}}`), `null,${names}}`)
})

test('an id is a UUID version 4, and is case-insensitive', () => {
  assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  assert.equal(parseItemId(id.toUpperCase()), id)
  for (const text of ['', 'x', `${id}0`, ` ${id}`, id.replaceAll('-', ''), `${id}\n`]) {
    assert.equal(parseItemId(text), undefined)
  }
})
