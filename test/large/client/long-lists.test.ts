/** Tests that the client reads lists item by item. */

import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { ItemStoreClient } from '../../../src/client/client.js'
import { scriptedServer } from '../../client/scripted-server.js'
import { collectGarbage } from '../../support/garbage.js'

function* listOf(count: number, members: string): Generator<string> {
  yield '{"session_id":"s","data":[{"id":"a","n":0}'
  for (let n = 1; n < count; n += 1) yield `,{"id":"a","n":${n}${members}}`
  yield ']}'
}

test('items yields 50,000 items with 24 MB in total, and never uses more than 10 MB', async (t) => {
  const count = 50_000
  const list = listOf(count, `,"text":"${'\\u00e9é\\n'.repeat(46)}"`)
  const { baseUrl } = await scriptedServer([(response) => Readable.from(list).pipe(response)])
  const client = new ItemStoreClient<{ n: number }>({ baseUrl, token: 'a.b.c' })
  const bytesInUse = () => {
    collectGarbage()
    const { heapUsed, external } = process.memoryUsage()
    return heapUsed + external
  }
  let before = 0
  let most = 0
  let next = 0
  for await (const { n } of client.items()) {
    assert.equal(n, next)
    next += 1
    if (next === 1) before = bytesInUse()
    if (next % 5_000 === 0) most = Math.max(most, bytesInUse() - before)
  }
  t.diagnostic(`${most} bytes in use`)
  assert.equal(next, count)
  assert.ok(most < 10_000_000, `${most} bytes in use`)
})
