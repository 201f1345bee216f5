/** Tests which parts of requests and responses the OpenAPI document requires. For the rest, see test/large/openapi. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Document } from '../../test/large/openapi/document.js'
import { openApiDocument } from './openapi.js'

const document: Document = JSON.parse(
  JSON.stringify(openApiDocument('1.2.3', { isSnapshot: true, isInOrder: true })),
)
const paths = Object.values(document.paths)
const operations = paths.flatMap(({ parameters, ...methods }) => Object.values(methods))

test('request bodies and path parameters are required; other parameters are optional', () => {
  const bodies = operations.flatMap(({ operationId, requestBody }) =>
    requestBody === undefined ? [] : [[operationId, requestBody.required]],
  )
  const expected = { createItem: true, replaceItem: true }
  assert.deepEqual(Object.fromEntries(bodies), expected)
  const all = [...paths, ...operations].flatMap(({ parameters = [] }) => parameters)
  for (const { name, in: place, required = false } of all) {
    assert.equal(required, place === 'path', name)
  }
  assert.deepEqual(new Set(all.map((each) => each.in)), new Set(['path', 'header', 'query']))
})

test('response headers are required unless they depend on the request or the state', () => {
  const optional = ['Retry-After', 'Preference-Applied', 'Idempotent-Replayed']
  for (const [name, { required = false }] of Object.entries(document.components.headers)) {
    assert.equal(required, !optional.includes(name), name)
  }
})
