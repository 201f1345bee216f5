import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultParts } from '../../test/support/own-app.js'
import { readConfig } from '../config/read-config.js'
import { openApiDocument } from '../interface/openapi.js'
import { prefix } from '../interface/paths.js'
import { createBodyReader } from './body.js'
import type { Handler } from './exchange.js'
import { createRoutes } from './routes.js'
import { createWaitingReads } from './waiting-reads.js'

test('the OpenAPI document has every route with its methods, and no other path or method', () => {
  const parts = defaultParts()
  const { store } = parts
  const waitingReads = createWaitingReads(store)
  const config = readConfig({}, {})
  const { readBody } = createBodyReader(config, () => undefined)
  const withFaults = (handle: Handler) => handle
  const own = { waitingReads, readBody, newId: undefined, withFaults, moreRoutes: () => [] }
  const routes = createRoutes(config, { ...parts, ...own })
  const served = routes
    .filter(({ path }) => path.startsWith(prefix))
    .map(({ path, handlers }) => [path, Object.keys(handlers).sort()])
  const document: { readonly paths: Readonly<Record<string, object>> } = JSON.parse(
    JSON.stringify(openApiDocument('1.2.3', store.guarantees)),
  )
  const documented = Object.entries(document.paths).map(([path, operations]) => {
    const methods = Object.keys(operations).filter((name) => name !== 'parameters')
    return [prefix + path, methods.map((name) => name.toUpperCase()).sort()]
  })
  assert.deepEqual(served, documented)
})
