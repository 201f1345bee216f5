/** Tests that the client reads lists of any length item by item. */

import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { ItemStoreClient } from '../../../src/client/client.js'
import { scriptedServer } from '../../client/scripted-server.js'
import type { Service } from '../../conformance/client.js'
import { ownProcess } from '../../support/own-process.js'
import { ownService } from '../../support/own-service.js'
import { headOf, openSocket, wholeText } from '../../support/socket.js'
import { root } from '../../support/tools.js'
import { until } from '../../support/until.js'

const script = fileURLToPath(new URL('./read-items.js', import.meta.url))
const count = 50_000
const batch = 5_000

/** Maximum memory of the client while it reads the list, in bytes. */
const mostInUse = 10_000_000

test(`items yields ${count} items with 24 MB in total, and never uses more than 10 MB`, async (t) => {
  const service = await ownService()
  for (let first = 0; first < count; first += batch) await create(service, first)
  const { printed } = ownProcess(
    [process.execPath, '--expose-gc', script, service.baseUrl.href, service.validToken()],
    { cwd: root, env: {} },
  )
  const { most, ...read } = JSON.parse(await printed(/\n/))
  t.diagnostic(`${most} bytes in use`)
  assert.deepEqual(read, { count, inOrder: true })
  assert.ok(most < mostInUse, `${most} bytes in use`)
})

/** Creates items with consecutive numbers from `first`. */
async function create(service: Service, first: number): Promise<void> {
  const text = '\\u00e9é\\n'.repeat(40)
  const head = headOf(service, 'POST', '/items')
  const lastHead = headOf(service, 'POST', '/items', 'Connection: close')
  const requests = Array.from({ length: batch }, (_, index) => {
    const body = `{"data":{"n":${first + index},"text":"${text}"}}`
    const length = `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n`
    return (index < batch - 1 ? head : lastHead).replace(/\r\n$/, length) + body
  })
  const answers = await wholeText(openSocket(service.baseUrl, requests.join('')))
  assert.equal(answers.split('HTTP/1.1 201 ').length - 1, batch)
}

function* endlessList(): Generator<string> {
  yield '{"session_id":"s","data":['
  for (let n = 0; ; n += 1) yield `{"id":"a","n":${n}},`
}

test('the first items are yielded before the list ends, and leaving the loop ends the response', async () => {
  let isClosed = false
  const { baseUrl } = await scriptedServer([
    (response) => {
      response.on('close', () => {
        isClosed = true
      })
      Readable.from(endlessList()).pipe(response)
    },
  ])
  const client = new ItemStoreClient<{ n: number }>({ baseUrl, token: 'a.b.c' })
  let next = 0
  for await (const { n } of client.items()) {
    assert.equal(n, next)
    next += 1
    if (next === 20_000) break
  }
  assert.equal(next, 20_000)
  await until('the end of the response', () => isClosed)
})

test('a response in one huge part is read completely', async () => {
  const texts = Array.from({ length: 300_000 }, (_, n) => `{"id":"a","n":${n}}`)
  const body = `{"session_id":"s","data":[${texts}]}`
  const fetch = async () => new Response(body)
  const client = new ItemStoreClient({ baseUrl: 'http://a/api/v1', token: 'a.b.c', fetch })
  assert.deepEqual(await client.listText(), texts)
})
