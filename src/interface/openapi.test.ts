/** What the OpenAPI document requires, and that it holds together. Responses are held against it in test/large/openapi. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openApiDocument } from './openapi.js'

interface Part {
  readonly $ref?: string
  readonly required?: boolean
  readonly in?: string
  readonly name?: string
}

interface Operation {
  readonly operationId: string
  readonly parameters?: readonly Part[]
  readonly requestBody?: Part
  readonly responses: Readonly<Record<string, { headers: Record<string, Part>; content?: object }>>
  readonly security?: readonly object[]
}

interface Path {
  readonly parameters?: readonly Part[]
  readonly get?: Operation
  readonly put?: Operation
  readonly post?: Operation
  readonly delete?: Operation
}

interface Document {
  readonly paths: Record<string, Path>
  readonly components: {
    readonly headers: Record<string, Part>
    readonly parameters?: Record<string, Part>
  }
}

const text = JSON.stringify(openApiDocument('1.2.3', { isSnapshot: true, isInOrder: true }))
const document: Document = JSON.parse(text)

const paths = Object.values(document.paths)
const operations = paths.flatMap(({ get, put, post, delete: remove }) =>
  [get, put, post, remove].filter((operation) => operation !== undefined),
)

/** What a reference leads to. */
function target(reference: string): unknown {
  const names = reference.split('/').slice(1)
  return names.reduce<unknown>((value, name) => Object(value)[name], document)
}

test('every reference leads to something', () => {
  const references = [...text.matchAll(/"\$ref":"([^"]+)"/g)].map(([, reference = '']) => reference)
  assert.ok(references.length > 50)
  for (const reference of references) assert.notEqual(target(reference), undefined, reference)
})

test('bodies of requests and what is in a path are required; other parameters are not', () => {
  const bodies = operations.filter(({ requestBody }) => requestBody !== undefined)
  assert.deepEqual(bodies.map(({ operationId }) => operationId).sort(), [
    'createItem',
    'replaceItem',
  ])
  for (const { requestBody } of bodies) assert.equal(requestBody?.required, true)
  const places = new Set<string>()
  for (const { parameters = [] } of [...paths, ...operations]) {
    for (const part of parameters) {
      const parameter = part.$ref === undefined ? part : (target(part.$ref) as Part) // of the same kind
      places.add(String(parameter.in))
      assert.equal(parameter.required === true, parameter.in === 'path', parameter.name)
    }
  }
  assert.ok(places.has('path') && places.has('header'))
})

test('headers of responses are required unless they depend on the request or the state', () => {
  const optional = ['Retry-After', 'Preference-Applied', 'Idempotent-Replayed']
  for (const [name, { required = false }] of Object.entries(document.components.headers)) {
    assert.equal(required, !optional.includes(name), name)
  }
})

test('every response has the session id; all but those without a body have a body', () => {
  for (const { operationId, responses } of operations) {
    for (const [status, { headers, content }] of Object.entries(responses)) {
      assert.ok('X-Session-Id' in headers, `${operationId} ${status}`)
      assert.equal(
        content === undefined,
        ['204', '304'].includes(status),
        `${operationId} ${status}`,
      )
    }
    assert.equal('401' in responses, operationId !== 'checkHealth', operationId)
  }
})
