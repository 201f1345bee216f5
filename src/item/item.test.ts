import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { newItemId } from './id.js'
import { encodeItem, projectFilter, projectOf } from './item.js'
import { parseItemRequest } from './item-request.js'

/** The text of an item after others in the same memory. @param project the JSON text of its project. */
function itemAfter(before: string, project: string): { bytes: Buffer; start: number } {
  const request = Buffer.from(`{"data":{"project_id":"x","a":1},"project_id":${project}}`)
  const item = encodeItem(newItemId(), parseItemRequest(request))
  return {
    bytes: Buffer.concat([Buffer.from(before), item, Buffer.from(',{"id":"')]),
    start: Buffer.byteLength(before),
  }
}

const anyText = fc.oneof(
  fc.string({ unit: 'binary', minLength: 1, maxLength: 6 }),
  fc.string({
    unit: fc.constantFrom('"', '\\', 'u', 'a', 'é', '😀', '\n', '\0'),
    minLength: 1,
    maxLength: 5,
  }),
)
/** JSON texts of a string, with any of its code units written as escapes. */
const spelt = (text: string, escapes: readonly boolean[]) =>
  `"${Array.from(text, (character, place) =>
    escapes[place % escapes.length]
      ? Array.from(
          { length: character.length },
          (_, unit) => `\\u${character.charCodeAt(unit).toString(16).padStart(4, '0')}`,
        ).join('')
      : JSON.stringify(character).slice(1, -1),
  ).join('')}"`

test('§2.1 a project is read and found however it is escaped, and no other is', () => {
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

test('§2.1 half a surrogate is a project of its own', () => {
  const { bytes, start } = itemAfter('', '"\\ud800"')
  assert.equal(projectOf(bytes, start), '\ud800')
  assert.ok(!projectFilter('\ufffd')(bytes, start))
})

test('§2.1 an item without a project has none, and bytes that are not an item either', () => {
  const none = itemAfter('', 'null')
  const texts = [none.bytes, '{"id":"', '', `{"id":"${newItemId()}","project-id":"null"}`]
  for (const text of texts) {
    const bytes = Buffer.from(text)
    assert.equal(projectOf(bytes), undefined)
    assert.ok(!projectFilter('null')(bytes, 0))
  }
})

test('§2.1 a project longer than any request could ask for is passed over at once', () => {
  const { bytes, start } = itemAfter('', `"${'x'.repeat(100 * 1024)}"`)
  assert.equal(projectOf(bytes, start), undefined)
})
