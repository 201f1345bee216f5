/** Any JSON value comes back as it was sent, from every endpoint that sends items. */

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import { pino } from 'pino'
import { createApp } from '../../src/app.js'
import { signToken } from '../../src/auth/sign.js'
import { readConfig } from '../../src/config/read-config.js'
import type { Awaitable, ItemStore } from '../../src/store/item-store.js'
import { jsonValue } from './json-text.js'

/**
 * @param open opens an empty store.
 * @param runs number of values: fewer for a slower store.
 */
export function describeRoundTrip(
  name: string,
  open: () => Awaitable<ItemStore>,
  runs = 300,
): void {
  describe(`${name}: every JSON text`, () => {
    let base = ''
    let authorization = ''
    let stop = async () => {}

    before(async () => {
      process.env.JWT_SECRET = 'a secret of at least thirty-two bytes'
      const options = {
        ...readConfig({}, {}),
        ...{ version: '0.0.0', maxBodyBytes: 1_000_000 },
        maxEventLoopDelay: 60_000, // a busy machine is no overload
      }
      const store = await open()
      const app = createApp(options, { store, log: pino({ level: 'silent' }) })
      base = `http://127.0.0.1:${await app.listen(0, '127.0.0.1')}/api/v1/items`
      authorization = `Bearer ${await signToken('a', 600)}`
      stop = async () => {
        await app.stop({ timeout: 0 })
        await store.close()
      }
    })
    after(() => stop())

    async function call(method: string, url: string, body?: string): Promise<string> {
      const response = await fetch(url, {
        method,
        headers: { authorization, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body }),
      })
      const text = await response.text()
      assert.ok(response.ok, `${response.status} ${text}`)
      return text
    }

    test('create, read, replace and list give the very text that was sent', async () => {
      await fc.assert(
        fc.asyncProperty(jsonValue, jsonValue, async (first, second) => {
          const created = dataOf(await call('POST', base, `{"data":{"v":${first},"w":[]}}`))
          const { id }: { id: string } = JSON.parse(created)
          assert.equal(created, `{"id":"${id}","project_id":null,"v":${first},"w":[]}`)
          assert.equal(dataOf(await call('GET', `${base}/${id}`)), created)
          assert.equal(dataOf(await call('GET', base)), `[${created}]`)

          const body = `{"project_id":"p","data":{"w":${second}}}`
          const replaced = dataOf(await call('PUT', `${base}/${id}`, body))
          assert.equal(replaced, `{"id":"${id}","project_id":"p","w":${second}}`)
          assert.equal(dataOf(await call('GET', `${base}/${id}`)), replaced)
          assert.equal(dataOf(await call('GET', base)), `[${replaced}]`)
          await call('DELETE', `${base}/${id}`)
        }),
        { numRuns: runs },
      )
    })
  })
}

/** The text after the name `data` in an envelope, without its closing brace. */
function dataOf(envelope: string): string {
  const name = '"data":'
  return envelope.slice(envelope.indexOf(name) + name.length, -1)
}
