/** Tests of the client with a JSON parser that keeps numbers exact. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ItemStoreClient } from '../../../src/client/client.js'
import { record } from '../../conformance/expect.js'
import { ownService } from '../../support/own-service.js'
import { requireTool } from '../../support/tools.js'

test('numbers stay exact as values of lossless-json', async () => {
  const members = '"big":12345678901234567890,"price":1.0,"far":1e400,"deep":[{"x":-0.10}]'
  const json: typeof JSON = requireTool('lossless-json')
  const service = await ownService()
  const options = { baseUrl: service.baseUrl, token: service.validToken() }
  const client = new ItemStoreClient(options)
  const lossless = new ItemStoreClient<Record<string, unknown>>({ ...options, json })
  const created = await lossless.create(record(json.parse(`{${members}}`)))
  const { id } = created
  const all = [created, await lossless.get(id), ...(await lossless.list())]
  for await (const item of lossless.items()) all.push(item)
  const numbers = all.map(({ big, price }) => `${big} ${price}`)
  assert.deepEqual(numbers, Array(4).fill('12345678901234567890 1.0'))
  const text = `{"id":"${id}","project_id":null,${members}}`
  assert.equal(await client.getText(id), text)
  await lossless.replace(id, await lossless.get(id))
  assert.equal(await client.getText(id), text)
})
