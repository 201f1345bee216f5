import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultParts } from '../../test/support/own-app.js'
import { readConfig } from '../config/read-config.js'
import { prefix } from '../interface/names.js'
import { openApiDocument } from '../interface/openapi.js'
import { createRoutes } from './routes.js'
import { createWaitingReads } from './waiting-reads.js'

const parts = defaultParts()
const { store } = parts
const waitingReads = createWaitingReads(store, new AbortController().signal)
const routes = createRoutes(readConfig({}, {}), {
  ...parts,
  waitingReads,
  newId: undefined,
  wrap: (handle) => handle,
}).filter(({ path }) => path.startsWith(prefix))

const document: { readonly paths: Readonly<Record<string, object>> } = JSON.parse(
  JSON.stringify(openApiDocument('1.2.3', store.guarantees)),
)

test('the OpenAPI document has every route with its methods, and no other path or method', () => {
  const served = routes.map(({ path, handlers }) => [path, Object.keys(handlers).sort()])
  const documented = Object.entries(document.paths).map(([path, operations]) => [
    prefix + path,
    Object.keys(operations)
      .filter((name) => name !== 'parameters')
      .map((name) => name.toUpperCase())
      .sort(),
  ])
  assert.deepEqual(served, documented)
})
