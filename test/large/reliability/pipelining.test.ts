/** Tests how much memory many pipelined requests take. */

import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { create } from '../../conformance/expect.js'
import { measuredService, ownService, ownTest, withLimits } from '../../support/own-service.js'
import { residentBytes, until } from '../../support/process.js'
import { exchange, headOf, openSocket, openSockets, wholeText } from '../../support/socket.js'

const health = 'GET /api/v1/health HTTP/1.1\r\nHost: a\r\n\r\n'

ownTest('above the limit for pipelined requests, the largest holder is closed', async () => {
  const own = await ownService({}, withLimits({ maxPipelinedBytes: 60_000 }))
  await own.call('POST', '/items', { data: { pad: 'x'.repeat(15_000_000) } })
  const list = headOf(own, 'GET', '/items')
  const modest = openSocket(own.baseUrl, list + health.repeat(5)).pause()
  await delay(300)
  for (let round = 0; round < 3; round += 1) {
    const greedy = openSocket(own.baseUrl, list + health.repeat(1_500))
    const text = await wholeText(greedy).catch(() => '')
    assert.ok(text.length < 15_000_000, 'the greedy connection was not closed')
    assert.equal((await exchange(own.baseUrl, health.repeat(5), 5)).length, 5)
  }
  const text = await wholeText(modest.end())
  assert.equal(text.match(/HTTP\/1\.1 200 OK\r\n/g)?.length, 6)
})

ownTest('a million pipelined requests with unread responses fit into a small heap', async () => {
  const own = await ownService({ NODE_OPTIONS: '--max-old-space-size=128' })
  const before = residentBytes(own)
  const sockets = openSockets(own.baseUrl, 40, health.repeat(25_000))
  for (const socket of sockets) socket.pause()
  let more = 0
  for (let tries = 0; tries < 30; tries += 1) {
    await delay(100)
    more = Math.max(more, residentBytes(own) - before)
  }
  // As JavaScript objects, these requests would take 2.5 GB. Most stay unparsed in the system's socket buffers.
  assert.ok(more < 150_000_000, `${more} bytes more`)
  for (const socket of sockets) socket.destroy()
  // The service answers this only after the requests that it has already read.
  await fetch(`${own.baseUrl}/health`, { signal: AbortSignal.timeout(20_000) })
})

for (const { title, method, end } of [
  { title: 'HEAD of the list', method: 'HEAD', end: '' },
  { title: 'lists', method: 'GET', end: '' },
  { title: 'lists and CONNECT', method: 'GET', end: 'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n' },
]) {
  ownTest(`after pipelined ${title} and a disconnect, deletes free memory`, async () => {
    const own = await measuredService()
    const ask = headOf(own, method, '/items')
    for (let round = 0; round < 3; round += 1) {
      const ids: string[] = []
      for (let count = 0; count < 12; count += 1) {
        ids.push((await create(own, { pad: 'x'.repeat(1_000_000) })).id)
      }
      const socket = openSocket(own.baseUrl, ask.repeat(15) + end).pause()
      await delay(300)
      socket.destroy()
      for (const id of ids) await own.call('DELETE', `/items/${id}`)
    }
    await until('no memory held for items', async () =>
      /^item_store_memory_bytes 0$/m.test(await own.metrics()),
    )
  })
}
