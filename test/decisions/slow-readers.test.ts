/** Tests the limit on memory that is kept only for clients that read slowly (interface §8). */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { createMemoryStore } from '../../src/store/memory/store.js'
import { create } from '../conformance/expect.js'
import { type OwnApp, ownApp } from '../support/own-app.js'
import { until } from '../support/process.js'
import { exchangeOne, headOf, openSocket, stalledRead } from '../support/socket.js'
import { createItems, itemText, textOf } from '../support/store-behaviour.js'

const megabyte = 1_000_000

function appWith(limits: Parameters<typeof ownApp>[1], store = createMemoryStore(100 * megabyte)) {
  return ownApp({ store }, limits)
}

function hasCut({ log }: OwnApp): boolean {
  return log.some(({ limit }) => limit === 'memory for readers')
}

test('§8 only the list that holds the most for the longest is cut, in the turn in which the limit is exceeded', async () => {
  const store = createMemoryStore(100 * megabyte)
  const app = await appWith({ maxReaderBytes: 6 * megabyte }, store)
  const ids = await createItems(store, 1000, 20_000)
  const replace = async (from: number, to: number) => {
    for (const id of ids.slice(from, to)) await store.replace(id, itemText(id, 20_000, 'y'))
  }
  const older = await stalledRead(app, '/items')
  await replace(0, 100)
  const newer = await stalledRead(app, '/items')
  const snapshot = await textOf(await store.list())
  await replace(100, 250)
  assert.equal(hasCut(app), false)
  await replace(250, 320)
  assert.equal(hasCut(app), true)
  assert.equal(await older.body(), undefined)
  assert.ok((await newer.body())?.endsWith(`[${snapshot}]}`))
})

test('§8 a large item counts once it is replaced, and then once for all who read it', async () => {
  const app = await appWith({ maxReaderBytes: 25 * megabyte })
  const { id } = await create(app, { pad: '0'.repeat(8 * megabyte) })
  const reads = []
  for (let version = 0; version < 6; version += 1) {
    const data = { pad: String(version).repeat(8 * megabyte) }
    assert.equal((await app.call('PUT', `/items/${id}`, { data })).status, 200)
    reads.push(await stalledRead(app, `/items/${id}`), await stalledRead(app, `/items/${id}`))
  }
  for (const [place, read] of reads.entries()) {
    const body = await read.body()
    assert.equal(body === undefined, place < 4) // five versions were replaced, of which three fit
    if (body !== undefined) assert.equal(JSON.parse(body).data.pad[0], String(place >> 1))
  }
})

test('§8 a body does not count as pending while the client reads the response slowly', async () => {
  const app = await appWith({ maxPendingBytes: 9 * megabyte })
  const body = JSON.stringify({ data: { pad: 'x'.repeat(8 * megabyte) } })
  const head = headOf(app, 'POST', '/items', `Content-Length: ${body.length}`)
  for (let round = 0; round < 3; round += 1) {
    const socket = openSocket(app.baseUrl, head + body)
    await once(socket, 'readable')
  }
  assert.equal((await exchangeOne(app.baseUrl, head + body)).status, 201)
})

test('§8 the lists of a project that clients read slowly count as they are sent', async () => {
  const app = await appWith({ maxReaderBytes: 5 * megabyte })
  for (let count = 0; count < 5; count += 1)
    await create(app, { pad: 'x'.repeat(2 * megabyte) }, 'p')
  for (let count = 0; count < 8; count += 1) await stalledRead(app, '/items?project_id=p')
  await until('a client is cut', () => hasCut(app))
})
