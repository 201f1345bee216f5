/** Tests parts and references of the OpenAPI document. test/large/openapi compares it with responses. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openApiDocument } from './openapi.js'

interface Parameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
}

interface Operation {
  readonly operationId: string
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly required?: boolean }
  readonly responses: Readonly<Record<string, { readonly headers: object; content?: object }>>
}

interface Document {
  readonly paths: Readonly<
    Record<string, { readonly parameters?: readonly Parameter[] } & Record<string, Operation>>
  >
  readonly components: { readonly headers: Record<string, { readonly required?: boolean }> }
}

const text = JSON.stringify(openApiDocument('1.2.3', { isSnapshot: true, isInOrder: true }))
const document: Document = JSON.parse(text)
const paths = Object.values(document.paths)
const operations = paths.flatMap(({ parameters, ...methods }) => Object.values(methods))

test('every reference in the document has a target', () => {
  const references = [...text.matchAll(/"\$ref":"#\/([^"]+)"/g)]
  assert.ok(references.length > 50)
  for (const [, path = ''] of references) {
    const target = path.split('/').reduce<unknown>((value, name) => Object(value)[name], document)
    assert.notEqual(target, undefined, path)
  }
})

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

test('every response has the header X-Session-Id, and all but 204 and 304 have a body', () => {
  for (const { operationId, responses } of operations) {
    for (const [status, { headers, content }] of Object.entries(responses)) {
      const isEmpty = ['204', '304'].includes(status)
      assert.ok('X-Session-Id' in headers, `${operationId} ${status}`)
      assert.equal(content === undefined, isEmpty, `${operationId} ${status}`)
    }
    assert.equal('401' in responses, operationId !== 'checkHealth', operationId)
  }
})
