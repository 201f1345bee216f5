/** What happens when there is too much: of work, of memory, of clients that do not read. */

import assert from 'node:assert/strict'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { needsOwnService, type OwnService, ownService } from '../conformance/service.js'
import { residentBytes } from '../support/process.js'
import { until } from '../support/until.js'

/** Enough for an idle service, and not for the bodies below. */
const smallMemory = {
  MAX_MEMORY_BYTES: '250000000',
  MAX_STORE_BYTES: '50000000',
  MAX_PENDING_BYTES: '1000000000',
}

/** Sends 180 MB of bodies, each held by the service until the rest of it comes. */
function holdBodies(own: OwnService): Socket[] {
  const authorization = `Authorization: Bearer ${own.validToken()}`
  const head = `POST /api/v1/items HTTP/1.1\r\nHost: a\r\n${authorization}\r\n`
  return Array.from({ length: 12 }, () => {
    const socket = connect(Number(own.baseUrl.port), own.baseUrl.hostname)
    socket.on('error', () => undefined)
    socket.write(`${head}Content-Length: 16000000\r\n\r\n${' '.repeat(15_000_000)}`)
    return socket
  })
}

test('over MAX_MEMORY_BYTES item requests get 503 with Retry-After, and health goes on', {
  skip: needsOwnService,
}, async () => {
  const own = await ownService(smallMemory)
  const { call, request, validToken } = own
  const sockets = holdBodies(own)
  const refused = await until('a 503', async () => {
    const answer = await call('GET', '/items')
    return answer.status === 503 && answer
  })
  assert.equal(refused.headers['retry-after'], '1')
  assert.match(refused.text, /"error_code":"SERVICE_UNAVAILABLE"/)
  assert.match(refused.text, /"session_id":"[0-9a-f-]{36}"/)
  assert.equal((await request('GET', '/health')).status, 200)
  // Deleting makes room.
  const { status } = await request('DELETE', '/items/none', { token: validToken() })
  assert.equal(status, 404)
  for (const socket of sockets) socket.destroy()
})

test('garbage over MAX_MEMORY_BYTES is collected, so that the service recovers by itself', {
  skip: needsOwnService,
}, async () => {
  const own = await ownService(smallMemory)
  const sockets = holdBodies(own)
  await until('a 503', async () => (await own.call('GET', '/items/none')).status === 503)
  for (const socket of sockets) socket.destroy()
  await until('a 404', async () => (await own.call('GET', '/items/none')).status === 404)
})

test('over MAX_EVENT_LOOP_DELAY item requests get 503, and the service recovers by itself', {
  skip: needsOwnService,
}, async () => {
  const own = await ownService({ MAX_EVENT_LOOP_DELAY: '1', MAX_BODY_BYTES: '100000000' })
  // Bodies that take long to read, one after the other, until one is refused.
  const heavy = { data: { list: Array.from({ length: 1_500_000 }, (_, at) => ({ at })) } }
  const statuses = new Set<number>()
  for (let tries = 0; tries < 10 && !statuses.has(503); tries += 1) {
    statuses.add((await own.call('POST', '/items', heavy)).status)
    await delay(300)
    statuses.add((await own.call('GET', '/items/none')).status)
  }
  assert.ok(statuses.has(503), [...statuses].join())
  await until('a 404', async () => (await own.call('GET', '/items/none')).status === 404)
})

test('1,000 slow clients and 100 unread listings of 10 MB: others are answered, memory is bounded', {
  skip: needsOwnService,
}, async (t) => {
  const own = await ownService()
  const pad = 'x'.repeat(100_000)
  for (let count = 0; count < 100; count += 1) await own.call('POST', '/items', { data: { pad } })
  const before = residentBytes(own)

  const sockets: Socket[] = []
  const open = (text: string): void => {
    const socket = connect(Number(own.baseUrl.port), own.baseUrl.hostname)
    socket.on('error', () => undefined)
    socket.pause().write(text)
    sockets.push(socket)
  }
  const token = own.validToken()
  for (let count = 0; count < 100; count += 1) {
    open(`GET /api/v1/items HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\n\r\n`)
  }
  for (let count = 0; count < 1000; count += 1) {
    open(`POST /api/v1/items HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\nContent-Le`)
  }
  await delay(1000)
  const slowest = await slowestAnswer(own, 50)
  const more = residentBytes(own) - before
  for (const socket of sockets) socket.destroy()

  t.diagnostic(`slowest answer ${slowest.toFixed(1)} ms, ${(more / 1e6).toFixed(1)} MB more`)
  // Far above what was measured (docs/reliability.md): a bound, not a benchmark.
  assert.ok(slowest < 2000, `slowest answer: ${slowest} ms`)
  assert.ok(more < 100_000_000, `${more} bytes more`)
  assert.equal((await own.call('GET', '/items/none')).status, 404)
})

test('100 reads of an item of 15 MB that nobody reads take no copies of it', {
  skip: needsOwnService,
}, async () => {
  const own = await ownService()
  const pad = 'x'.repeat(15_000_000)
  const { text } = await own.call('POST', '/items', { data: { pad } })
  const { id } = JSON.parse(text).data
  const before = residentBytes(own)
  const authorization = `Authorization: Bearer ${own.validToken()}`
  const sockets = Array.from({ length: 100 }, () => {
    const socket = connect(Number(own.baseUrl.port), own.baseUrl.hostname)
    socket.on('error', () => undefined)
    socket.pause().write(`GET /api/v1/items/${id} HTTP/1.1\r\nHost: a\r\n${authorization}\r\n\r\n`)
    return socket
  })
  await delay(1000)
  assert.equal((await own.call('GET', '/items/none')).status, 404)
  const more = residentBytes(own) - before
  for (const socket of sockets) socket.destroy()
  assert.ok(more < 100_000_000, `${more} bytes more`)
})

test('9,000 idle connections are kept, and others are answered', {
  skip: needsOwnService,
}, async (t) => {
  const own = await ownService()
  const before = residentBytes(own)
  const sockets: Socket[] = []
  let closed = 0
  for (let count = 0; count < 9000; count += 1) {
    const socket = connect(Number(own.baseUrl.port), own.baseUrl.hostname)
    socket
      .on('error', () => undefined)
      .on('close', () => {
        closed += 1
      })
    sockets.push(socket)
    if (count % 200 === 0) await delay(5) // the system keeps few that are not accepted yet
  }
  await delay(500)
  const slowest = await slowestAnswer(own, 50)
  const more = residentBytes(own) - before
  t.diagnostic(`slowest answer ${slowest.toFixed(1)} ms, ${(more / 1e6).toFixed(1)} MB more`)
  assert.equal(closed, 0)
  assert.ok(more < 200_000_000, `${more} bytes more`)
  for (const socket of sockets) socket.destroy()
})

test('a client that does not read its listing is dropped after IDLE_TIMEOUT', {
  skip: needsOwnService,
}, async () => {
  const own = await ownService({ IDLE_TIMEOUT: '1' })
  const pad = 'x'.repeat(1_000_000)
  for (let count = 0; count < 20; count += 1) await own.call('POST', '/items', { data: { pad } })
  const socket = connect(Number(own.baseUrl.port), own.baseUrl.hostname)
  socket.on('error', () => undefined)
  const authorization = `Authorization: Bearer ${own.validToken()}`
  socket.pause().write(`GET /api/v1/items HTTP/1.1\r\nHost: a\r\n${authorization}\r\n\r\n`)
  await delay(3500)
  let bytes = 0
  for await (const chunk of socket) bytes += chunk.length
  assert.ok(bytes > 0 && bytes < 20_000_000, `${bytes} bytes of a list of 20 MB`)
})

for (const path of ['/items', '/items/{id}']) {
  test(`a client that reads GET ${path} slowly is not dropped, however long it takes`, {
    skip: needsOwnService,
  }, async () => {
    const own = await ownService({ IDLE_TIMEOUT: '2', MAX_BODY_BYTES: '50000000' })
    const pad = 'x'.repeat(40_000_000)
    const { text } = await own.call('POST', '/items', { data: { pad } })
    const { id } = JSON.parse(text).data
    const socket = connect(Number(own.baseUrl.port), own.baseUrl.hostname)
    const authorization = `Authorization: Bearer ${own.validToken()}`
    const target = `/api/v1${path.replace('{id}', id)}`
    const head = `GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n`
    socket.write(`${head}${authorization}\r\n\r\n`)
    let bytes = 0
    for await (const chunk of socket) {
      bytes += chunk.length
      await delay(chunk.length / 8_000) // at 8 MB in a second: 5 seconds
    }
    assert.ok(bytes > 40_000_000, `${bytes} bytes of 40 MB`)
  })
}

test('more than MAX_CONNECTIONS are closed, and the others go on', {
  skip: needsOwnService,
}, async () => {
  const own = await ownService({ MAX_CONNECTIONS: '5' })
  const port = Number(own.baseUrl.port)
  const sockets = Array.from({ length: 10 }, () => connect(port, own.baseUrl.hostname))
  const closed = new Set<Socket>()
  for (const socket of sockets) {
    socket.on('error', () => undefined).on('close', () => closed.add(socket))
    socket.resume()
  }
  await until('five are closed', () => closed.size >= 5)
  await delay(100)
  assert.equal(closed.size, 5)
  for (const socket of sockets) socket.destroy()
  const isBack = () => own.request('GET', '/health').catch(() => undefined)
  assert.equal((await until('an answer', isBack)).status, 200)
})

/** Time of the slowest of some requests, one after the other, in milliseconds. */
async function slowestAnswer(own: OwnService, count: number): Promise<number> {
  let slowest = 0
  for (let at = 0; at < count; at += 1) {
    const start = performance.now()
    assert.equal((await own.call('GET', '/items/none')).status, 404)
    slowest = Math.max(slowest, performance.now() - start)
  }
  return slowest
}
