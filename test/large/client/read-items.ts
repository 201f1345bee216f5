/**
 * Reads all items with the client, in a process of its own, and prints how many there were, whether they
 * were in order, and how many bytes more than before were in use on the way. Arguments: base URL and
 * token; `--expose-gc`, so that what is not in use any more does not count.
 */

import assert from 'node:assert/strict'
import { ItemStoreClient } from '../../../src/client/client.js'

const [baseUrl = '', token = ''] = process.argv.slice(2)
const { gc } = globalThis
assert.ok(gc)

function bytesInUse(): number {
  gc?.()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

const client = new ItemStoreClient<{ n: number; text: string }>({ baseUrl, token })
await client.health() // what the first request needs is no part of the list
const before = bytesInUse()
let most = 0
let count = 0
let inOrder = true
for await (const { n } of client.items()) {
  inOrder &&= n === count
  count += 1
  if (count % 5_000 === 0) most = Math.max(most, bytesInUse() - before)
}
process.stdout.write(`${JSON.stringify({ count, inOrder, most })}\n`)
