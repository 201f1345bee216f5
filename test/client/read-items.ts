/**
 * Reads all items with the client, in a process of its own, and prints how many there were, whether they
 * were in order, and by how many bytes the process has grown at most. Arguments: base URL and token.
 */

import { ItemStoreClient } from '../../src/client/client.js'

const [baseUrl = '', token = ''] = process.argv.slice(2)
const client = new ItemStoreClient<{ n: number; text: string }>({ baseUrl, token })
await client.health() // what the first request needs is no part of the list
const before = process.memoryUsage.rss()
let count = 0
let inOrder = true
for await (const { n } of client.items()) {
  inOrder &&= n === count
  count += 1
}
const growth = process.resourceUsage().maxRSS * 1024 - before
process.stdout.write(`${JSON.stringify({ count, inOrder, growth })}\n`)
