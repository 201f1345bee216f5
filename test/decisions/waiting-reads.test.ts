/** Tests reads that wait for a change (interface §4.10). */

import assert from 'node:assert/strict'
import { subscribe } from 'node:diagnostics_channel'
import type { IncomingMessage } from 'node:http'
import { test } from 'node:test'
import type { ItemId } from '../../src/item/id.js'
import { createMemoryStore } from '../../src/store/memory/store.js'
import { useService } from '../conformance/service.js'
import { inSeconds, validClaims } from '../conformance/tokens.js'
import { ownApp } from '../support/own-app.js'
import { measuredService, ownTest } from '../support/own-service.js'
import { until } from '../support/process.js'
import { firstText, headOf, openSocket, wholeText } from '../support/socket.js'
import { isPending, newItem, readWaiting } from './expect.js'

const service = await useService()

function wait(path: string, tag: string, prefer = 'wait=20', token = service.validToken()) {
  return readWaiting(service, path, tag, prefer, { token })
}

test('§4.10 a waiting read gets a 304 after the requested time without a change', async () => {
  const { path, tag } = await newItem(service)
  const start = performance.now()
  const answer = await wait(path, tag, 'wait=1')
  assert.ok(performance.now() - start > 950)
  assert.equal(answer.status, 304)
  assert.equal(answer.headers['preference-applied'], 'wait=1')
  assert.equal(answer.headers.etag, tag)
})

const waiting = [
  'WAIT = "20"',
  'wait=20; x=y, wait=1',
  'wait=12345678901',
  'x="a, \\", b"; y, wait=20',
]
for (const prefer of waiting) {
  test(`§4.10 a read with Prefer: ${prefer} waits`, async () => {
    const { path, tag } = await newItem(service)
    const answer = wait(path, tag, prefer)
    assert.ok(await isPending(answer))
    await service.call('DELETE', path)
    assert.equal((await answer).status, 404)
  })
}

const notWaiting = [
  ...['wait', 'wait=0', 'wait=-1', 'wait=1.5', 'wait="9', 'await=9', 'wait 9'],
  ...['x="a, wait=9"', 'x="a\\", wait=9, b"', 'x="a, wait=9'],
]
for (const prefer of notWaiting) {
  test(`§4.10 a read with Prefer: ${prefer} does not wait`, async () => {
    const { path, tag } = await newItem(service)
    const answer = await wait(path, tag, prefer)
    assert.equal(answer.status, 304)
    assert.equal(answer.headers['preference-applied'], undefined)
  })
}

test('§4.10 a read without If-None-Match, or with another tag, is answered at once', async () => {
  const { path } = await newItem(service)
  const token = service.validToken()
  const plain = await service.request('GET', path, { token, headers: { prefer: 'wait=20' } })
  assert.equal(plain.status, 200)
  assert.equal((await wait(path, '"other"')).status, 200)
})

test('§4.10 a wait ends when the token expires', async () => {
  const { path, tag } = await newItem(service)
  let status = 401
  // On a busy machine, a token may expire before it arrives, so each attempt uses a longer lifetime.
  for (let time = 2; status === 401 && time < 20; time *= 2) {
    const token = service.mint({ ...validClaims(), exp: inSeconds(time) })
    const start = performance.now()
    status = (await wait(path, tag, 'wait=60', token)).status
    assert.ok(performance.now() - start < 55_000)
  }
  assert.equal(status, 304)
})

test('§4.10 a pipelined read does not wait after the client has closed its side of the connection', async () => {
  const { path, tag } = await newItem(service)
  const lines = [`If-None-Match: ${tag}`, 'Prefer: wait=60']
  const bytes = headOf(service, 'GET', path) + headOf(service, 'GET', path, ...lines).repeat(2)
  const text = await wholeText(openSocket(service.baseUrl, bytes, { allowHalfOpen: true }).end())
  assert.deepEqual(text.match(/(?<=HTTP\/1\.1 )\d+/g), ['200', '304', '304'])
})

test('§4.10 a body that is sent with a waiting read is read to its end', async () => {
  const { path, tag } = await newItem(service)
  const lines = [`If-None-Match: ${tag}`, 'Prefer: wait=60']
  const head = headOf(service, 'GET', path, ...lines, 'Content-Length: 30000000')
  const socket = openSocket(service.baseUrl, head)
  await new Promise((resolve) => socket.write(Buffer.alloc(30_000_000), resolve))
  await service.call('DELETE', path)
  assert.match(await firstText(socket), /^HTTP\/1\.1 404 /)
  socket.destroy()
})

test('§4.10 a read whose client goes away before the wait begins does not wait', async () => {
  const store = createMemoryStore(100_000)
  let beforeRead = async () => {}
  const read = async (id: ItemId) => {
    await beforeRead()
    return store.read(id)
  }
  const app = await ownApp({ store: { ...store, read } })
  const { path, tag } = await newItem(app)
  let reads = 0
  subscribe('http.server.request.start', (message) => {
    const { socket } = (message as { request: IncomingMessage }).request // Node.js documents that the message has a request
    beforeRead = async () => {
      reads += 1
      client.resetAndDestroy()
      await new Promise((resolve) => socket.once('close', resolve)) // `once` would throw the reset
    }
  })
  const lines = [`If-None-Match: ${tag}`, 'Prefer: wait=60']
  const client = openSocket(app.baseUrl, headOf(app, 'GET', path, ...lines))
  await until('the read', () => reads === 1)
  await until('no read waits', () => app.waitingReads.limit.value() === 0, 30_000)
})

ownTest('§4.10 when a service stops, it answers its waiting reads', async () => {
  const own = await measuredService()
  const { path, tag } = await newItem(own)
  const answer = readWaiting(own, path, tag, 'wait=60')
  await until('the read waits', async () => (await own.waitingReads()) === 1)
  assert.deepEqual(await own.stop(), [0, null])
  assert.equal((await answer).status, 304)
})
