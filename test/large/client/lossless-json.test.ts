/** Tests of the client with a JSON parser that keeps numbers exact. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ItemStoreClient } from '../../../src/client/client.js'
import { record } from '../../conformance/expect.js'
import { ownService } from '../../support/own-service.js'
import { requireTool } from '../../support/tools.js'

test('numbers stay exact as values of lossless-json', async () => {
  const members = '"big":12345678901234567890,"price":1.0,"far":1e400,"deep":[{"x":-0.10}]'
  const json: typeof JSON & { isLosslessNumber: (value: unknown) => boolean } =
    requireTool('lossless-json')
  const service = await ownService()
  const options = { baseUrl: service.baseUrl, token: service.validToken() }
  const client = new ItemStoreClient(options)
  const lossless = new ItemStoreClient<Record<string, unknown>>({ ...options, json })
  const { id, big, price } = await lossless.create(record(json.parse(`{${members}}`)))
  const all = [big, price]
  for await (const item of lossless.items()) all.push(item.big, item.price)
  for (const item of await lossless.list()) all.push(item.big, item.price)
  const { big: readBig, price: readPrice } = await lossless.get(id)
  all.push(readBig, readPrice)
  assert.deepEqual(
    all.map(String),
    Array.from({ length: 4 }, () => ['12345678901234567890', '1.0']).flat(),
  )
  assert.equal(await client.getText(id), `{"id":"${id}","project_id":null,${members}}`)
  await lossless.replace(id, await lossless.get(id))
  assert.equal(await client.getText(id), `{"id":"${id}","project_id":null,${members}}`)
})
