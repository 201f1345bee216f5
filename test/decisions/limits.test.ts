/** Tests the limits on requests, memory and connections (interface §8). */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { createDoubles } from '../../src/doubles/doubles.js'
import { createMemoryStore } from '../../src/store/memory/store.js'
import type { Service } from '../conformance/client.js'
import { itemOf, listed, stored } from '../conformance/expect.js'
import { useService } from '../conformance/service.js'
import { ownApp } from '../support/own-app.js'
import { measuredService, ownService, ownTest } from '../support/own-service.js'
import { until } from '../support/process.js'
import { exchangeOne, headOf, openSocket, openSockets } from '../support/socket.js'
import { readText } from '../support/tools.js'
import { assertRefused } from './expect.js'

const service = await useService()
const mebibyte = 1024 * 1024

for (const connection of ['keep-alive', 'close']) {
  test(`§8 a 413 reaches a client that reads only after sending everything, Connection: ${connection}`, async () => {
    const pieces = Array.from({ length: 17 }, () => ' '.repeat(mebibyte))
    const length = `Content-Length: ${17 * mebibyte}`
    const head = headOf(service, 'POST', '/items', length, `Connection: ${connection}`)
    const answer = await exchangeOne(service.baseUrl, [head, ...pieces])
    assertRefused(answer, 413, 'PAYLOAD_TOO_LARGE')
  })
}

test('§8 MAX_BODY_BYTES is the maximum size of a body, to the byte', async () => {
  const body = '{"data":{"a":"é"}}'
  const length = Buffer.byteLength(body)
  const app = await ownApp({}, { maxBodyBytes: length })
  for (const headers of [{}, { 'transfer-encoding': 'chunked' }]) {
    const send = (text: string) =>
      app.request('POST', '/items', { token: app.validToken(), body: text, headers })
    assert.equal(itemOf(await send(body), 201).a, 'é')
    const message = assertRefused(await send(`${body} `), 413, 'PAYLOAD_TOO_LARGE')
    assert.equal(message, `The request body is larger than ${length} bytes`)
  }
  assert.equal((await listed(app)).length, 2)
})

test('§8 after 507 STORE_FULL, reads and deletes still work, and deletes make room for new items', async () => {
  const app = await ownApp({ store: createMemoryStore(40_000) })
  const ids = await fill(app)
  assert.ok(ids.length >= 20 && ids.length <= 40, `the store held ${ids.length} kB of 40 kB`)
  const [first = '', second = '', third = ''] = ids
  assertRefused(await createLarge(app), 507, 'STORE_FULL')
  assert.equal((await app.call('GET', `/items/${first}`)).status, 200)
  const shown = (await listed(app)).map(({ id }) => id)
  assert.deepEqual(shown, ids)
  assert.equal((await app.request('GET', '/health')).status, 200)

  const put = (id: string, length: number) =>
    app.call('PUT', `/items/${id}`, { data: { text: 'y'.repeat(length) } })
  assertRefused(await put(first, 5000), 507, 'STORE_FULL')
  assert.equal((await stored(app, first))?.text, text)
  assert.equal((await put(first, text.length)).status, 200)
  assert.equal((await put(first, 10)).status, 200)
  assert.equal((await stored(app, first))?.text, 'y'.repeat(10))

  assert.equal((await app.call('DELETE', `/items/${second}`)).status, 204)
  assert.equal((await createLarge(app)).status, 201)
  assert.equal((await app.call('DELETE', `/items/${third}`)).status, 204)
  assert.equal((await put(first, text.length)).status, 200)

  for (const { id } of await listed(app)) {
    assert.equal((await app.call('DELETE', `/items/${id}`)).status, 204)
  }
  assert.equal((await fill(app)).length, ids.length)
})

test('§8 the limit for bodies in memory is exact to the byte, even after many bodies that arrived in pieces', async () => {
  const app = await ownApp({}, { maxBodyBytes: 200, maxPendingBytes: 100 })
  const send = (length: number) => {
    const body = '{"data":{}}'.padEnd(length)
    const head = headOf(app, 'POST', '/items', `Content-Length: ${length}`)
    return exchangeOne(app.baseUrl, [head + body.slice(0, 1), body.slice(1)])
  }
  const lengths = Array.from({ length: 40 }, (_, place) => 20 + place)
  for (const { status } of await Promise.all(lengths.slice(0, 2).map(send)))
    assert.equal(status, 201)
  for (const length of lengths) assert.equal((await send(length)).status, 201)
  assert.equal((await send(100)).status, 201)
  assertRefused(await send(101), 503, 'SERVICE_UNAVAILABLE')
  assert.equal((await send(100)).status, 201)
})

const text = 'x'.repeat(1000)

function createLarge(app: Service) {
  return app.call('POST', '/items', { data: { text } })
}

async function fill(app: Service): Promise<string[]> {
  const ids: string[] = []
  for (;;) {
    const answer = await createLarge(app)
    if (answer.status === 507) return ids
    ids.push(itemOf(answer, 201).id)
    assert.ok(ids.length < 1000, 'the limit is never reached')
  }
}

test('§8 a body whose connection ends during the check is not stored, and no longer counts as pending', async () => {
  const body = `{"data":{${Array.from({ length: 10_000 }, (_, place) => `"${place}":1`)}}}`
  const app = await ownApp({}, { maxPendingBytes: 3_000_000 }) // the check of the names takes 2 MB
  const create = headOf(app, 'POST', '/items', `Content-Length: ${body.length}`)
  for (const end of [body.length, body.length - 1, 70_000, 20_000]) {
    for (let round = 0; round < 4; round += 1) {
      const socket = openSocket(app.baseUrl, create)
      socket.write(body.slice(0, end))
      const other = exchangeOne(app.baseUrl, headOf(app, 'GET', '/health'))
      socket.destroy()
      await Promise.all([once(socket, 'close'), other])
    }
  }
  let status = 503 // the service responds with 503 until it notices that the connections have ended
  while (status === 503) ({ status } = await exchangeOne(app.baseUrl, create + body))
  assert.equal(status, 201)
  const { text } = await exchangeOne(app.baseUrl, headOf(app, 'GET', '/items'))
  const stored = JSON.parse(text).data.length
  assert.ok(stored >= 1 && stored <= 5, String(stored)) // an item whose body arrived completely may be stored
})

test('§8 a body does not count as pending if its connection is closed before the request is handled', async () => {
  const doubles = createDoubles({ delay: 100 })
  const app = await ownApp({ doubles }, { maxPendingBytes: 100, maxPipelinedBytes: 10 })
  const body = '{"data":{}}'.padEnd(60)
  const create = headOf(app, 'POST', '/items', `Content-Length: ${body.length}`) + body
  await assert.rejects(exchangeOne(app.baseUrl, create + create)) // too much is pipelined
  assert.equal((await exchangeOne(app.baseUrl, create)).status, 201)
})

test('§7 a client that disconnects before the end of its body causes no error in the log', async () => {
  const app = await ownApp()
  const socket = openSocket(app.baseUrl, headOf(app, 'POST', '/items', 'Content-Length: 9'))
  socket.write('{')
  for (const act of [() => socket.resetAndDestroy(), () => undefined]) {
    await delay(50) // if the service takes longer, it sees only the end of the connection
    await app.request('GET', '/health')
    act()
  }
  assert.deepEqual(app.log, [])
})

ownTest('§8 connections beyond MAX_CONNECTIONS are closed, and the others stay open', async () => {
  const own = await ownService({ MAX_CONNECTIONS: '5' })
  const sockets = openSockets(own.baseUrl, 10)
  for (const socket of sockets) socket.resume()
  const countClosed = () => sockets.filter((socket) => socket.closed).length
  await until('five connections are closed', () => countClosed() >= 5)
  await delay(100)
  assert.equal(countClosed(), 5)
  for (const socket of sockets) socket.destroy()
  const isBack = () => own.request('GET', '/health').catch(() => undefined)
  assert.equal((await until('an answer', isBack)).status, 200)
})

ownTest(
  '§8 the metrics have the value and the maximum of each limit that rejects requests',
  async () => {
    const own = await measuredService({
      MAX_CONNECTIONS: '5',
      MAX_MEMORY_BYTES: '1GiB',
      MAX_STORE_BYTES: '1MiB',
    })
    await createLarge(own)
    const body = `${headOf(own, 'POST', '/items', 'Content-Length: 9000')}{"data":{"a":"${'x'.repeat(4000)}`
    const wait = headOf(own, 'GET', '/items', 'If-None-Match: *\r\nPrefer: wait=60')
    const sockets = [body, wait + wait].map((text) => openSocket(own.baseUrl, text))
    const all = async () => {
      const text = await own.metrics()
      const valuesOf = (kind: string) =>
        [...text.matchAll(new RegExp(`^item_store_limit_${kind}{limit="(.*)"} (.*)$`, 'gm'))].map(
          ([, name = '', value]) => [name, Number(value)] as const,
        )
      return { values: new Map(valuesOf('value')), maximums: new Map(valuesOf('maximum')) }
    }
    const isHeld = (value = 0) => value >= 4000
    await until('a body is pending, a read waits, and a request is queued', async () => {
      const { values } = await all()
      return isHeld(values.get('pending request bodies')) && values.get('pipelined requests')
    })
    const { values, maximums } = await all()
    assert.equal(values.get('MAX_CONNECTIONS'), 2)
    assert.equal(values.get('waiting reads'), 1)
    assert.equal(values.get('store blocks'), 1)
    assert.ok(Number(values.get('MAX_MEMORY_BYTES')) > 1024 ** 2)
    assert.ok(Number(values.get('event loop delay')) >= 0)
    assert.equal(maximums.get('MAX_CONNECTIONS'), 5)
    assert.equal(maximums.get('MAX_MEMORY_BYTES'), 1024 ** 3)
    assert.deepEqual([...maximums.keys()], [...values.keys()])
    for (const [name, maximum] of maximums)
      assert.ok(maximum > 0 && Number.isFinite(maximum), `${name}: ${maximum}`)
    const listed = /^The limits are (.*?)\./ms.exec(readText('docs/reference/operation.md'))?.[1]
    const names = Array.from(listed?.matchAll(/`(.*?)`/g) ?? [], ([, name]) => name)
    assert.deepEqual(names, [...values.keys()])
    for (const socket of sockets) socket.destroy()
    await until('nothing is held', async () => {
      const { values } = await all()
      return ['pending request bodies', 'pipelined requests', 'waiting reads'].every(
        (name) => values.get(name) === 0,
      )
    })
  },
)
