/** Tests of clauses of the interface that need a new service, or two services. */

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { create, listed, stored } from './conformance/expect.js'
import { ownService, ownTest } from './support/own-service.js'

ownTest('§1.2 §4.2 nothing persists across a restart, and the list is empty', async () => {
  const env = { JWT_SECRET: randomUUID() }
  const first = await ownService(env)
  const item = await create(first, { name: 'gone' })
  await first.stop()
  const second = await ownService(env)
  assert.deepEqual(await listed(second), [])
  assert.equal(await stored(second, item.id), undefined)
})

ownTest('§5.2 a token works at every service that has the secret', async () => {
  const one = await ownService()
  const other = await ownService({ JWT_SECRET: one.secret })
  const token = one.validToken()
  for (const service of [one, other]) {
    assert.equal((await service.request('GET', '/items', { token })).status, 200)
  }
})
