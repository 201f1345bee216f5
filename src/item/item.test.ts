import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { newItemId } from './id.js'
import { encodeItem, projectFilter, projectOf } from './item.js'
import { parseItemRequest } from './item-request.js'

function itemAfter(before: string, project: string): { bytes: Buffer; start: number } {
  const request = Buffer.from(`{"data":{"project_id":"x","a":1},"project_id":${project}}`)
  const item = encodeItem(newItemId(), parseItemRequest(request))
  return {
    bytes: Buffer.concat([Buffer.from(before), item, Buffer.from(',{"id":"')]),
    start: Buffer.byteLength(before),
  }
}

const special = fc.constantFrom('"', '\\', 'u', 'a', 'é', '😀', '\n', '\0')
const anyText = fc.oneof(
  fc.string({ unit: 'binary', minLength: 1, maxLength: 6 }),
  fc.string({ unit: special, minLength: 1, maxLength: 5 }),
)

function escaped(character: string): string {
  const units = Array.from({ length: character.length }, (_, place) => character.charCodeAt(place))
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('')
}

function spelt(text: string, escapes: readonly boolean[]): string {
  const characters = Array.from(text, (character, place) =>
    escapes[place % escapes.length] ? escaped(character) : JSON.stringify(character).slice(1, -1),
  )
  return `"${characters.join('')}"`
}

test('§2.1 the project of an item is found however it is escaped, and no other project matches', () => {
  const escapes = fc.array(fc.boolean(), { minLength: 1, maxLength: 4 })
  fc.assert(
    fc.property(anyText, anyText, escapes, fc.string(), (project, other, escapes, before) => {
      const { bytes, start } = itemAfter(before, spelt(project, escapes))
      assert.equal(projectOf(bytes, start), project)
      assert.ok(projectFilter(project)(bytes, start))
      for (const name of [other, project + other, project.slice(1), `${project}"`, `"${project}`]) {
        if (!/\p{Surrogate}/u.test(name))
          assert.equal(projectFilter(name)(bytes, start), name === project)
      }
    }),
    { numRuns: 2000 },
  )
})

test('§2.1 a project that is a lone surrogate does not match the replacement character', () => {
  const { bytes, start } = itemAfter('', '"\\ud800"')
  assert.equal(projectOf(bytes, start), '\ud800')
  assert.ok(!projectFilter('\ufffd')(bytes, start))
})

test('§2.1 items without a project, and bytes that are not an item, have no project', () => {
  const none = itemAfter('', 'null')
  const texts = [none.bytes, '{"id":"', '', `{"id":"${newItemId()}","project-id":"null"}`]
  for (const text of texts) {
    const bytes = Buffer.from(text)
    assert.equal(projectOf(bytes), undefined)
    assert.ok(!projectFilter('null')(bytes, 0))
  }
})

test('§2.1 a project too long to be named in a request is not read', () => {
  const { bytes, start } = itemAfter('', `"${'x'.repeat(100 * 1024)}"`)
  assert.equal(projectOf(bytes, start), undefined)
})
