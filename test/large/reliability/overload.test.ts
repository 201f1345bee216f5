/** Tests a service with too much work, too little memory, or clients that do not read. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { create } from '../../conformance/expect.js'
import { assertRefused } from '../../decisions/expect.js'
import { type OwnService, ownService, ownTest, withLimits } from '../../support/own-service.js'
import { residentBytes, until } from '../../support/process.js'
import { headOf, openSocket, openSockets, slowly, stalledRead } from '../../support/socket.js'

const mebibyte = 1024 ** 2

ownTest('above MAX_MEMORY_BYTES, item requests get 503, and the service recovers', async () => {
  // An idle service stays below these limits; 225 MB of incomplete bodies exceed them.
  const settings = { MAX_MEMORY_BYTES: '250000000', MAX_STORE_BYTES: '50000000' }
  const own = await ownService(settings, withLimits({ maxPendingBytes: 1_000_000_000 }))
  const { call, request, validToken } = own
  const head = headOf(own, 'POST', '/items', 'Content-Length: 16000000')
  const sockets = openSockets(own.baseUrl, 15, head + ' '.repeat(15_000_000))
  const refused = await until('a 503', async () => {
    const answer = await call('GET', '/items')
    return answer.status === 503 && answer
  })
  assertRefused(refused, 503, 'SERVICE_UNAVAILABLE')
  assert.equal(refused.headers['retry-after'], '1')
  await until('the overload in the health response', async () => {
    // Health reports no overload while memory use is below the limit.
    const health = await request('GET', '/health')
    assert.equal(health.status, 200)
    return JSON.parse(health.text).overload === 'MAX_MEMORY_BYTES'
  })
  // DELETE requests are still accepted, because they free memory.
  const { status } = await request('DELETE', '/items/none', { token: validToken() })
  assert.equal(status, 404)

  const line = own.log.find(({ error_code }) => error_code === 'SERVICE_UNAVAILABLE')
  assert.deepEqual([line?.limit, line?.maximum], ['MAX_MEMORY_BYTES', 250_000_000])
  assert.ok(Number(line?.value) > 250_000_000, String(line?.value))
  assert.deepEqual([line?.method, line?.path, line?.status], ['GET', '/api/v1/items', 503])
  for (const socket of sockets) socket.destroy()
  // The service collects garbage, and so recovers by itself.
  await until('a 404', async () => (await call('GET', '/items/none')).status === 404)
})

ownTest('with a slow event loop, item requests get 503, and the service recovers', async () => {
  const own = await ownService({}, withLimits({ maxEventLoopDelay: 1 }))
  // No request blocks the event loop long enough for a 503, so the test pauses the process.
  await until('a 503', async () => {
    own.child.kill('SIGSTOP')
    await delay(200)
    own.child.kill('SIGCONT')
    await delay(100)
    return (await own.call('GET', '/items/none')).status === 503
  })
  await until('a 404', async () => (await own.call('GET', '/items/none')).status === 404)
})

for (const { path, count, bytes } of [
  { path: '/items', count: 100, bytes: 100_000 },
  { path: '/items/{id}', count: 1, bytes: 15_000_000 },
]) {
  ownTest(
    `1,000 slow clients and 100 unread responses to GET ${path} leave others undisturbed`,
    async (t) => {
      const own = await ownService()
      let id = ''
      for (let n = 0; n < count; n += 1) ({ id } = await create(own, { pad: 'x'.repeat(bytes) }))
      const before = residentBytes(own)
      const cutShort = headOf(own, 'POST', '/items', 'Content-Le').trimEnd()
      const sockets = [
        ...openSockets(own.baseUrl, 100, headOf(own, 'GET', path.replace('{id}', id))),
        ...openSockets(own.baseUrl, 1000, cutShort),
      ]
      for (const socket of sockets) socket.pause()
      await delay(1000)
      const more = await measure(own, before, t)
      assert.ok(more < 100_000_000, `${more} bytes more`)
    },
  )
}

ownTest('9,000 idle connections stay open, and other clients get responses', async (t) => {
  const own = await ownService()
  const before = residentBytes(own)
  const sockets: Socket[] = []
  while (sockets.length < 9000) {
    const some = openSockets(own.baseUrl, 200) // keeps the queue of connections to be accepted short
    await Promise.all(some.map((socket) => once(socket, 'connect')))
    sockets.push(...some)
  }
  const more = await measure(own, before, t)
  assert.equal(sockets.filter((socket) => socket.closed).length, 0)
  assert.ok(more < 200_000_000, `${more} bytes more`)
})

for (const { path, count, bytes } of [
  { path: '/items', count: 6500, bytes: 19_880 },
  { path: '/items/{id}', count: 25, bytes: 15_000_000 },
]) {
  ownTest(
    `readers of GET ${path} that stall while items are replaced are cut, and no other request gets 503`,
    async (t) => {
      const [maxMemory, maxStore] = [320 * mebibyte, 140 * mebibyte]
      const settings = { MAX_MEMORY_BYTES: String(maxMemory), MAX_STORE_BYTES: String(maxStore) }
      const own = await ownService(settings)
      const isList = path === '/items'
      const atOnce = isList ? 8 : 1 // more large bodies could exceed the limit on pending bodies
      const ids: string[] = []
      const statuses = new Set<number>()
      let most = 0
      const replace = async (id: string, pad: string) => {
        statuses.add((await own.call('PUT', `/items/${id}`, { data: { pad } })).status)
        statuses.add((await own.call('GET', `/items/${id}`)).status)
        most = Math.max(most, residentBytes(own))
      }
      const createOne = async () => {
        ids.push((await create(own, { pad: 'x'.repeat(bytes) })).id)
      }
      await inTurn(isList ? count : 1, atOnce, createOne)
      const reader = await stalledRead(own, path.replace('{id}', ids[0] ?? ''))
      await inTurn(count, atOnce, async (place) => {
        await replace(ids[place % ids.length] ?? '', 'y'.repeat(bytes))
        if (!isList) await stalledRead(own, `/items/${ids[0]}`)
      })
      t.diagnostic(`${most} bytes of ${maxMemory}`)
      assert.deepEqual([...statuses], [200])
      assert.ok(most < maxMemory, `${most} bytes`)
      assert.equal(await reader.body(), undefined)
    },
  )
}

for (const path of ['/items', '/items/{id}']) {
  ownTest(`a client that reads GET ${path} slowly is not disconnected`, async () => {
    const own = await ownService({ MAX_BODY_BYTES: '50000000' }, withLimits({ idleTimeout: 2 }))
    const pad = 'x'.repeat(40_000_000)
    const { id } = await create(own, { pad })
    const head = headOf(own, 'GET', path.replace('{id}', id), 'Connection: close')
    let bytes = 0
    for await (const chunk of slowly(openSocket(own.baseUrl, head))) bytes += chunk.length
    assert.ok(bytes > 40_000_000, `${bytes} bytes of 40 MB`)
  })
}

async function inTurn(count: number, atOnce: number, act: (place: number) => Promise<void>) {
  let next = 0
  const actAll = async () => {
    while (next < count) {
      next += 1
      await act(next - 1)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, actAll))
}

/** Reports the longest of 50 response times, and returns how much memory has grown, in bytes. */
async function measure(own: OwnService, before: number, t: TestContext): Promise<number> {
  let slowest = 0
  for (let count = 0; count < 50; count += 1) {
    const start = performance.now()
    assert.equal((await own.call('GET', '/items/none')).status, 404)
    slowest = Math.max(slowest, performance.now() - start)
  }
  const more = residentBytes(own) - before
  t.diagnostic(`slowest answer ${slowest.toFixed(1)} ms, ${(more / 1e6).toFixed(1)} MB more`)
  return more
}
