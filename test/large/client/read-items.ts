/** Reads all items in a process with `--expose-gc`, and prints how much memory this takes. */

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
await client.health() // a first request needs memory that must not be counted
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
