/**
 * Tests what responses contain, the order of their members and of listed items, and that nothing persists across a
 * restart (spec §1.2, §2.3, §2.4 and §4.1 to §4.5).
 */

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import {
  create,
  envelopeOf,
  itemOf,
  itemsOf,
  listed,
  record,
  stored,
} from '../conformance/expect.js'
import { useService } from '../conformance/service.js'
import { ownService, ownTest } from '../support/own-service.js'
import { newItem } from './expect.js'

const service = await useService()

test('§4.1 the health response counts two subsystems, and has its members in order', async () => {
  const health = record((await service.request('GET', '/health')).json())
  assert.deepEqual(health.services_summary, { total: 2, healthy: 2, unhealthy: 0 })
  const names = ['session_id', 'status', 'service_name', 'version', 'services_summary']
  assert.deepEqual(Object.keys(health), names)
})

ownTest('§2.4 service_name is the setting SERVICE_NAME, by default item-store', async () => {
  assert.equal(record((await service.request('GET', '/health')).json()).service_name, 'item-store')
  const other = await ownService({ SERVICE_NAME: 'Schlüssel "1"' })
  const { service_name } = record((await other.request('GET', '/health')).json())
  assert.equal(service_name, 'Schlüssel "1"')
})

ownTest('§1.2 §4.2 nothing persists across a restart, and the list is empty', async () => {
  const env = { JWT_SECRET: randomUUID() }
  const first = await ownService(env)
  const item = await create(first, {})
  await first.stop()
  const second = await ownService(env)
  assert.deepEqual(await listed(second), [])
  assert.equal(await stored(second, item.id), undefined)
})

test('§2.3 §4.2 §4.5 the envelope of an item or list has its members in order, with status and message', async () => {
  const { path } = await newItem(service)
  for (const [method, target, code, status, message] of [
    ['POST', '/items', 201, 'created', 'Item created successfully'],
    ['GET', path, 200, 'success', 'Item retrieved successfully'],
    ['PUT', path, 200, 'updated', 'Item updated successfully'],
    ['GET', '/items', 200, 'success', 'Items retrieved successfully'],
  ] as const) {
    const value = method === 'GET' ? undefined : { data: {} }
    const envelope = envelopeOf(await service.call(method, target, value), code)
    assert.deepEqual(Object.keys(envelope), ['session_id', 'status', 'message', 'data'])
    assert.deepEqual([envelope.status, envelope.message], [status, message])
  }
})

test('§4.2 items are listed in the order of their creation, even after a replace', async () => {
  const project_id = randomUUID()
  const ids: string[] = []
  for (let index = 0; index < 30; index += 1) {
    ids.push((await create(service, { index }, project_id)).id)
  }
  for (const place of [0, 7, 29]) {
    const value = { data: { longer: 'x'.repeat(place * 100) }, project_id }
    assert.equal((await service.call('PUT', `/items/${ids[place]}`, value)).status, 200)
  }
  await service.call('DELETE', `/items/${ids.splice(13, 1)[0]}`)
  const items = itemsOf(await service.call('GET', `/items?project_id=${project_id}`))
  const order = items.map(({ id }) => id)
  assert.deepEqual(order, ids)
})

test('§4.3 a 201 has a Location, from which the item can be read', async () => {
  const answer = await service.call('POST', '/items', { data: { a: 1 } })
  const { id } = itemOf(answer, 201)
  assert.equal(answer.headers.location, `${service.baseUrl.pathname}/items/${id}`)
  const token = service.validToken()
  const found = await service.requestTarget('GET', String(answer.headers.location), { token })
  assert.equal(itemOf(found, 200).id, id)
})
