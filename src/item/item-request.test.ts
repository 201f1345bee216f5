/** Item requests of any shape. Single cases, and what is refused, are in test/decisions. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { jsonObject, jsonValue } from '../../test/support/json-text.js'
import { newItemId } from './id.js'
import { encodeItem, parseItemRequest } from './item-request.js'

const id = newItemId()

/** The item that a body becomes, without the opening of every item. */
function itemOf(body: string): string {
  const text = encodeItem(id, parseItemRequest(Buffer.from(body))).toString()
  const opening = `{"id":"${id}","project_id":`
  assert.ok(text.startsWith(opening), text)
  return text.slice(opening.length)
}

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
