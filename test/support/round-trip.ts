/** Tests that all endpoints that return items preserve every JSON value exactly. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Awaitable, ItemStore } from '../../src/store/item-store.js'
import { itemText } from '../decisions/expect.js'
import { jsonValue } from './json-text.js'
import { ownApp } from './own-app.js'

export function describeRoundTrip(
  name: string,
  open: () => Awaitable<ItemStore>,
  runs = 100,
): void {
  test(`${name}: create, read, replace and list return exactly the text that was sent`, async () => {
    const store = await open()
    const app = await ownApp({ store }, { maxBodyBytes: 1_000_000 })
    const token = app.validToken()
    const call = async (method: string, path: string, body?: string) => {
      const options = body === undefined ? {} : { body }
      const answer = await app.request(method, path, { token, ...options })
      assert.ok(answer.status < 300, answer.text)
      return itemText(answer)
    }
    await fc.assert(
      fc.asyncProperty(jsonValue, jsonValue, async (first, second) => {
        const created = await call('POST', '/items', `{"data":{"v":${first},"w":[]}}`)
        const { id }: { id: string } = JSON.parse(created)
        assert.equal(created, `{"id":"${id}","project_id":null,"v":${first},"w":[]}`)
        assert.equal(await call('GET', `/items/${id}`), created)
        assert.equal(await call('GET', '/items'), `[${created}]`)

        const body = `{"project_id":"p","data":{"w":${second}}}`
        const replaced = await call('PUT', `/items/${id}`, body)
        assert.equal(replaced, `{"id":"${id}","project_id":"p","w":${second}}`)
        assert.equal(await call('GET', `/items/${id}`), replaced)
        assert.equal(await call('GET', '/items'), `[${replaced}]`)
        await call('DELETE', `/items/${id}`)
      }),
      { numRuns: runs },
    )
    await store.close()
  })
}
