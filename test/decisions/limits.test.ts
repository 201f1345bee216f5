/** Decisions on §8: the size of a request, and the room for items. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { Service } from '../conformance/client.js'
import { create, itemOf, listed, stored } from '../conformance/expect.js'
import { useService } from '../conformance/service.js'
import { ownApp } from '../support/own-app.js'
import { ownService, ownTest } from '../support/own-service.js'
import { exchangeOne, headOf, openSockets } from '../support/socket.js'
import { until } from '../support/until.js'
import { assertRefused, sendText } from './expect.js'

const service = await useService()
const mebibyte = 1024 * 1024

for (const method of ['POST', 'PUT']) {
  test(`§8 ${method}: 413 PAYLOAD_TOO_LARGE from Content-Length alone`, async () => {
    const { id } = await create(service, {})
    for (const length of [16 * mebibyte + 1, 17 * mebibyte, 2 ** 40]) {
      const path = method === 'PUT' ? `/items/${id}` : '/items'
      const head = headOf(service, method, path, `Content-Length: ${length}`)
      assertRefused(await exchangeOne(service.baseUrl, head), 413, 'PAYLOAD_TOO_LARGE')
    }
  })
}

test('§8 413 PAYLOAD_TOO_LARGE for a chunked body, once it is too long', async () => {
  const options = {
    token: service.validToken(),
    body: ' '.repeat(17 * mebibyte),
    headers: { 'transfer-encoding': 'chunked' },
  }
  assertRefused(await service.request('POST', '/items', options), 413, 'PAYLOAD_TOO_LARGE')
})

for (const connection of ['keep-alive', 'close']) {
  test(`§8 413 reaches a client that reads only after sending everything, Connection: ${connection}`, async () => {
    const pieces = Array.from({ length: 17 }, () => ' '.repeat(mebibyte))
    const length = `Content-Length: ${17 * mebibyte}`
    const head = headOf(service, 'POST', '/items', length, `Connection: ${connection}`)
    const answer = await exchangeOne(service.baseUrl, [head, ...pieces])
    assertRefused(answer, 413, 'PAYLOAD_TOO_LARGE')
  })
}

test('§8 a body of 16 MiB is accepted', async () => {
  const frame = '{"data":{"a":""}}'
  const text = 'x'.repeat(16 * mebibyte - frame.length)
  const body = frame.replace('""', `"${text}"`)
  const { id, a } = itemOf(await sendText(service, 'POST', '/items', body), 201)
  assert.ok(a === text)
  assert.equal((await service.call('DELETE', `/items/${id}`)).status, 204)
})

ownTest('§8 MAX_BODY_BYTES is the maximum size of a body, to the byte', async () => {
  const body = '{"data":{"a":"é"}}'
  const length = Buffer.byteLength(body)
  const own = await ownService({ MAX_BODY_BYTES: String(length) })
  for (const headers of [{}, { 'transfer-encoding': 'chunked' }]) {
    const send = (text: string) =>
      own.request('POST', '/items', { token: own.validToken(), body: text, headers })
    assert.equal(itemOf(await send(body), 201).a, 'é')
    assertRefused(await send(`${body} `), 413, 'PAYLOAD_TOO_LARGE')
  }
  assert.equal((await listed(own)).length, 2)
})

ownTest('§8 507 STORE_FULL: reads and deletes still work, and deleting makes room', async () => {
  const own = await ownService({ MAX_STORE_BYTES: '40000' })
  const ids = await fill(own)
  const [first = '', second = '', third = ''] = ids
  assertRefused(await createLarge(own), 507, 'STORE_FULL')
  assert.equal((await own.call('GET', `/items/${first}`)).status, 200)
  assert.deepEqual(
    (await listed(own)).map(({ id }) => id),
    ids,
  )
  assert.equal((await own.request('GET', '/health')).status, 200)

  const put = (id: string, length: number) =>
    own.call('PUT', `/items/${id}`, { data: { text: 'y'.repeat(length) } })
  assertRefused(await put(first, 5000), 507, 'STORE_FULL')
  assert.equal((await stored(own, first))?.text, text)
  assert.equal((await put(first, text.length)).status, 200)
  assert.equal((await put(first, 10)).status, 200)
  assert.equal((await stored(own, first))?.text, 'y'.repeat(10))

  assert.equal((await own.call('DELETE', `/items/${second}`)).status, 204)
  assert.equal((await createLarge(own)).status, 201)
  assert.equal((await own.call('DELETE', `/items/${third}`)).status, 204)
  assert.equal((await put(first, text.length)).status, 200)
})

ownTest('§8 a full store has room for as much again once it is emptied', async () => {
  const own = await ownService({ MAX_STORE_BYTES: '40000' })
  const counts = []
  for (let round = 0; round < 3; round += 1) {
    const ids = await fill(own)
    counts.push(ids.length)
    for (const id of ids) assert.equal((await own.call('DELETE', `/items/${id}`)).status, 204)
  }
  const [first = 0] = counts
  assert.ok(first >= 20 && first <= 40, `the store held ${first} kB of 40 kB`)
  assert.deepEqual(counts, [first, first, first])
})

test('§8 the bodies in memory are counted to the byte, after many that have come in pieces', async () => {
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

ownTest('§8 the messages name a limit of one byte, and of more', async () => {
  for (const [limit, words] of [
    ['1', '1 byte'],
    ['2', '2 bytes'],
  ] as const) {
    const own = await ownService({ MAX_BODY_BYTES: limit })
    const tooLarge = await sendText(own, 'POST', '/items', '{"data":{}}')
    const message = assertRefused(tooLarge, 413, 'PAYLOAD_TOO_LARGE')
    assert.equal(message, `The request body is larger than ${words}`)
    const small = await ownService({ MAX_STORE_BYTES: limit })
    const full = assertRefused(await createLarge(small), 507, 'STORE_FULL')
    assert.equal(full, `The store is full: it may hold ${words}`)
  }
})

ownTest('§8 an item larger than the whole store: 507 STORE_FULL', async () => {
  const own = await ownService({ MAX_STORE_BYTES: '1000' })
  assertRefused(await createLarge(own), 507, 'STORE_FULL')
  const { id } = await create(own, {})
  const value = { data: { text } }
  assertRefused(await own.call('PUT', `/items/${id}`, value), 507, 'STORE_FULL')
  assert.equal((await listed(own)).length, 1)
})

const text = 'x'.repeat(1000)

function createLarge(own: Service) {
  return own.call('POST', '/items', { data: { text } })
}

/** Creates items of 1 kB until there is no room for another. */
async function fill(own: Service): Promise<string[]> {
  const ids: string[] = []
  for (;;) {
    const answer = await createLarge(own)
    if (answer.status === 507) return ids
    ids.push(itemOf(answer, 201).id)
    assert.ok(ids.length < 1000, 'the limit is never reached')
  }
}

ownTest('§8 connections beyond MAX_CONNECTIONS are closed, and the others stay open', async () => {
  const own = await ownService({ MAX_CONNECTIONS: '5' })
  const sockets = openSockets(own.baseUrl, 10)
  for (const socket of sockets) socket.resume()
  const countClosed = () => sockets.filter((socket) => socket.closed).length
  await until('five are closed', () => countClosed() >= 5)
  await delay(100)
  assert.equal(countClosed(), 5)
  for (const socket of sockets) socket.destroy()
  const isBack = () => own.request('GET', '/health').catch(() => undefined)
  assert.equal((await until('an answer', isBack)).status, 200)
})
