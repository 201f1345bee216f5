/** Tests the client with several implementations of `fetch`. With most of them, a response has no web stream. */

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import { after, describe, test } from 'node:test'
import { type Fetch, ItemStoreClient } from '../../../src/client/client.js'
import {
  type Call,
  calls,
  errorOf,
  item,
  type Step,
  scriptedClient,
  stalls,
} from '../../client/scripted-server.js'
import { newCertificate } from '../../support/certificate.js'
import { ownService } from '../../support/own-service.js'
import { freePort, listen, until } from '../../support/process.js'
import { requireTool } from '../../support/tools.js'
import { userProject } from '../../support/user-project.js'

const nodeFetch: { default: Fetch } = await import(requireTool.resolve('node-fetch'))
const crossFetch: Fetch = requireTool('cross-fetch')

/** Like React Native's `fetch`, whose responses have no `body`, but methods such as `text()`. */
const bodiless: Fetch = async (url, init) => {
  const response = await fetch(url, init)
  return new Proxy(response, {
    get(target, name) {
      const value: unknown = name === 'body' ? undefined : Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

const service = await ownService()
const notUtf8: Step = (response) =>
  response.end(Buffer.from('{"data":{"id":"1","title":"\xff"}}', 'latin1'))

for (const [name, fetch] of Object.entries({
  'node-fetch': nodeFetch.default,
  'cross-fetch': crossFetch,
  'a fetch without bodies': bodiless,
  'the fetch of Node.js': globalThis.fetch,
})) {
  describe(`with ${name}`, () => {
    const token = service.validToken()
    const options = { fetch, retries: 0 }

    test('every method works, and items stay exact', async () => {
      const client = new ItemStoreClient({ ...options, baseUrl: service.baseUrl, token })
      const members = `"big":12345678901234567890,"price":1.0,"text":"${'é😀'.repeat(50_000)}"`
      const text = await client.createText(`{${members}}`, { projectId: name })
      const { id, ...others } = await client.create({ a: 1 }, { projectId: name })
      assert.ok(text.endsWith(`${members}}`))
      assert.equal((await client.listText({ projectId: name }))[0], text)
      assert.deepEqual(await client.get(id), { id, ...others })
      const read = []
      for await (const each of client.items({ projectId: name })) read.push(each)
      assert.deepEqual(read, await client.list({ projectId: name }))
      const states = client.watch(id)
      assert.deepEqual((await states.next()).value, read[1])
      const next = states.next()
      assert.deepEqual((await client.update(id, () => ({ a: 2 }))).project_id, name)
      assert.equal((await next).value?.a, 2)
      await client.replace(id, { a: 3 })
      await client.delete(id)
      assert.equal((await client.health()).status, 'healthy')
      assert.equal((await errorOf(client.get(id))).status, 404)
    })

    test('a change is reported as never sent without a connection or a valid certificate', async () => {
      const [cert = '', key = ''] = newCertificate().map((file) => readFileSync(file, 'utf8'))
      const server = createServer({ key, cert }, () => assert.fail('a request arrived'))
      after(() => server.close())
      const origins = [
        `http://localhost:${await freePort()}`,
        `https://127.0.0.1:${await listen(server)}`,
      ]
      for (const baseUrl of origins) {
        const error = await errorOf(new ItemStoreClient({ ...options, baseUrl, token }).create({}))
        assert.equal(error.code, 'NOT_CONNECTED')
      }
    })

    const abandoned: [title: string, step: Step, call: Call, code?: string][] = [
      ['that stalls', stalls, calls.list, 'TIMEOUT'],
      ...(fetch === bodiless
        ? []
        : ([
            ['that is not UTF-8', notUtf8, calls.get, 'INVALID_RESPONSE'],
            ['whose loop is left early', endless, firstItem],
          ] as typeof abandoned)), // only a body that can be read in parts
    ]
    for (const [title, step, call, code] of abandoned) {
      test(`a response ${title} ends, and so does its connection`, async () => {
        const { client, ended } = await scriptedClient([step], { ...options, timeout: 2_000 })
        if (code === undefined) assert.deepEqual(await call(client), item)
        else assert.equal((await errorOf(call(client))).code, code)
        await until('the end of the response', () => ended.count > 0)
      })
    }
  })
}

test('the types of node-fetch and cross-fetch fit', () => {
  const { compile } = userProject(`
    import crossFetch from 'cross-fetch'
    import { ItemStoreClient } from 'item-store/client'
    import nodeFetch from 'node-fetch'
    const options = { baseUrl: 'http://a', token: 'a' }
    export const clients = [crossFetch, nodeFetch, fetch].map(
      (fetch) => new ItemStoreClient({ ...options, fetch }),
    )
    // @ts-expect-error the result of fetch must be a response
    new ItemStoreClient({ ...options, fetch: async () => 'text' })
  `)
  const options = { module: 'nodenext', types: ['node'], skipLibCheck: true, noEmit: true }
  assert.equal(compile(options), '')
})

function endless(response: Parameters<Step>[0]): void {
  response.write(`{"data":[${JSON.stringify(item)}`)
  const timer = setInterval(() => response.write(`,${JSON.stringify(item)}`), 1)
  response.on('close', () => clearInterval(timer))
}

async function firstItem(client: ItemStoreClient): Promise<unknown> {
  for await (const each of client.items()) return each
  return undefined
}
