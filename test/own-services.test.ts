/** Tests of clauses of the interface that need a new service, or two services. */

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { create, itemsOf, listed, stored } from './conformance/expect.js'
import { ownService, ownTest } from './support/own-service.js'

ownTest('§1.2 nothing persists across a restart', async () => {
  const env = { JWT_SECRET: randomUUID() }
  const first = await ownService(env)
  const item = await create(first, { name: 'gone' })
  await first.stop()
  const second = await ownService(env)
  assert.deepEqual(await listed(second), [])
  assert.equal(await stored(second, item.id), undefined)
})

ownTest('§4.2 the list is empty when no items exist', async () => {
  const fresh = await ownService()
  assert.deepEqual(itemsOf(await fresh.call('GET', '/items')), [])
  const { id } = await create(fresh, {})
  await fresh.call('DELETE', `/items/${id}`)
  assert.deepEqual(itemsOf(await fresh.call('GET', '/items')), [])
})

ownTest('§5.2 a token works at every service that has the secret', async () => {
  const one = await ownService()
  const other = await ownService({ JWT_SECRET: one.secret })
  const token = one.validToken()
  for (const service of [one, other]) {
    assert.equal((await service.request('GET', '/items', { token })).status, 200)
  }
})

ownTest('§8 a JWT_SECRET below the recommended 32 bytes works', async () => {
  const brief = await ownService({ JWT_SECRET: 'short' })
  assert.equal((await brief.call('GET', '/items')).status, 200)
})
