import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { encodeItem, parseItemRequest } from '../../test/support/item-text.js'
import { jsonString } from '../../test/support/json-text.js'
import { newItemId } from './id.js'
import { projectFilter, projectOf } from './item.js'

function itemAfter(before: string, project: string): { bytes: Buffer; start: number } {
  const request = Buffer.from(`{"data":{"project_id":"x","a":1},"project_id":${project}}`)
  const item = encodeItem(newItemId(), parseItemRequest(request))
  return {
    bytes: Buffer.concat([Buffer.from(before), item, Buffer.from(',{"id":"')]),
    start: Buffer.byteLength(before),
  }
}

test('§2.1 the project of an item is found however it is escaped, and no other project matches', () => {
  fc.assert(
    fc.property(jsonString, jsonString, fc.string(), (text, otherText, before) => {
      const [project, other]: [string, string] = JSON.parse(`[${text},${otherText}]`)
      fc.pre(project !== '')
      const { bytes, start } = itemAfter(before, text)
      assert.equal(projectOf(bytes, start), project)
      const others = [other, project + other, project.slice(1), `${project}"`, `"${project}`]
      for (const name of [project, ...others]) {
        if (/\p{Surrogate}/u.test(name)) continue
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
