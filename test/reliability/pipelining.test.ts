/** Pipelined requests, in numbers. */

import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { needsOwnService, ownService } from '../conformance/service.js'
import { exchange } from '../decisions/raw.js'
import { freePort, residentBytes } from '../support/process.js'
import { until } from '../support/until.js'

const skip = needsOwnService
const health = 'GET /api/v1/health HTTP/1.1\r\nHost: a\r\n\r\n'

test('5,000 requests in one go are all answered', { skip }, async () => {
  const own = await ownService()
  const answers = await exchange(own.baseUrl, health.repeat(5000), 5000)
  assert.equal(new Set(answers.map(({ headers }) => headers['x-session-id'])).size, 5000)
})

test('beyond MAX_PIPELINED_BYTES the connection that holds the most is closed, and no other', {
  skip,
}, async () => {
  const own = await ownService({ MAX_PIPELINED_BYTES: '1000' })
  await own.call('POST', '/items', { data: { pad: 'x'.repeat(15_000_000) } })
  const authorization = `Authorization: Bearer ${own.validToken()}`
  const list = `GET /api/v1/items HTTP/1.1\r\nHost: a\r\n${authorization}\r\n\r\n`
  const modest = connect(Number(own.baseUrl.port), own.baseUrl.hostname)
  modest.pause().write(list + health.repeat(5))
  await delay(300)
  for (let round = 0; round < 3; round += 1) {
    const greedy = connect(Number(own.baseUrl.port), own.baseUrl.hostname)
    greedy.on('error', () => undefined)
    greedy.write(list + health.repeat(1_500))
    let bytes = 0
    for await (const chunk of greedy) bytes += chunk.length
    assert.ok(bytes < 15_000_000, 'the greedy connection was not closed')
    assert.equal((await exchange(own.baseUrl, health.repeat(5), 5)).length, 5)
  }
  modest.end()
  const answers: Buffer[] = []
  for await (const chunk of modest) answers.push(chunk)
  const text = Buffer.concat(answers).toString('latin1')
  assert.equal(text.match(/HTTP\/1\.1 200 OK\r\n/g)?.length, 6)
})

test('a million pipelined requests whose answers nobody reads take bounded memory, in a small heap', {
  skip,
}, async () => {
  const own = await ownService({ NODE_OPTIONS: '--max-old-space-size=128' })
  const before = residentBytes(own)
  const sockets = Array.from({ length: 40 }, () => {
    const socket = connect(Number(own.baseUrl.port), own.baseUrl.hostname)
    socket.on('error', () => undefined)
    socket.pause().write(health.repeat(25_000))
    return socket
  })
  let more = 0
  for (let tries = 0; tries < 30; tries += 1) {
    await delay(100)
    more = Math.max(more, residentBytes(own) - before)
  }
  // As objects they would take 2.5 GB. They wait as bytes, most of them in the system's buffers.
  assert.ok(more < 150_000_000, `${more} bytes more`)
  for (const socket of sockets) socket.destroy()
  await until('an answer', () => own.request('GET', '/health').catch(() => undefined))
})

test('a client that has nothing more to send gets all that it asked for', { skip }, async () => {
  const own = await ownService()
  await own.call('POST', '/items', { data: { pad: 'x'.repeat(15_000_000) } })
  const socket = connect({
    port: Number(own.baseUrl.port),
    host: own.baseUrl.hostname,
    allowHalfOpen: true,
  })
  const authorization = `Authorization: Bearer ${own.validToken()}`
  const post = `POST /api/v1/items HTTP/1.1\r\nHost: a\r\n${authorization}\r\nContent-Length: 11\r\n\r\n{"data":{}}`
  socket.end(`GET /api/v1/items HTTP/1.1\r\nHost: a\r\n${authorization}\r\n\r\n${post.repeat(3)}`)
  const answers: Buffer[] = []
  for await (const chunk of socket) answers.push(chunk)
  const text = Buffer.concat(answers).toString()
  assert.ok(text.length > 15_000_000, `${text.length} bytes of a list of 15 MB`)
  assert.equal(text.match(/HTTP\/1\.1 201 Created\r\n/g)?.length, 3)
})

async function holdsNothing(metricsPort: number): Promise<boolean> {
  const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
  return /^item_store_page_bytes 0$/m.test(metrics)
}

test('HEAD of a list leaves no memory behind', { skip }, async () => {
  const metricsPort = await freePort()
  const own = await ownService({ METRICS_PORT: String(metricsPort) })
  const { text } = await own.call('POST', '/items', { data: {} })
  assert.equal((await own.call('HEAD', '/items')).status, 200)
  await own.call('DELETE', `/items/${JSON.parse(text).data.id}`)
  await until('no memory held for items', () => holdsNothing(metricsPort))
})

for (const { end, bytes } of [
  { end: 'and nothing else', bytes: '' },
  { end: 'and CONNECT', bytes: 'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n' },
]) {
  test(`lists asked for ahead ${end} by a client that goes leave no memory behind`, {
    skip,
  }, async () => {
    const metricsPort = await freePort()
    const own = await ownService({ METRICS_PORT: String(metricsPort) })
    const authorization = `Authorization: Bearer ${own.validToken()}`
    const ask = `GET /api/v1/items HTTP/1.1\r\nHost: a\r\n${authorization}\r\n\r\n`
    for (let round = 0; round < 3; round += 1) {
      const ids: string[] = []
      for (let count = 0; count < 12; count += 1) {
        const { text } = await own.call('POST', '/items', { data: { pad: 'x'.repeat(1_000_000) } })
        ids.push(JSON.parse(text).data.id)
      }
      const socket = connect(Number(own.baseUrl.port), own.baseUrl.hostname)
      socket.on('error', () => undefined)
      socket.pause().write(ask.repeat(15) + bytes)
      await delay(300)
      socket.destroy()
      for (const id of ids) await own.call('DELETE', `/items/${id}`)
    }
    await until('no memory held for items', () => holdsNothing(metricsPort))
  })
}
