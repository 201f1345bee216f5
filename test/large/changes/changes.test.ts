/** However many connections are cut and services killed, no change is lost, and none is made twice. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeWithRedis, ownRedis, startedRedis } from '../../support/redis.js'
import { ownCluster } from '../../support/redis-cluster.js'
import { type ChangesOptions, checkCreates, checkIncrements } from './changes.js'

test('increments at one service with items in memory', () => assertIncrements({}))
test('creates at one service with items in memory', async () => {
  await assertCreates({})
})

describeWithRedis('at two services on one server', () => {
  const redis = ownRedis()

  test('increments', async () => {
    await redis.start()
    await assertIncrements({ storeUrl: redis.url })
  })

  test('creates, while the services are killed', async () => {
    const other = await startedRedis()
    const { kills } = await assertCreates({ storeUrl: other.url, perKill: 1_000 })
    assert.ok(kills > 0)
  })
})

describeWithRedis('at two services on a cluster', () => {
  test('increments', async () => {
    const cluster = await ownCluster()
    await cluster.start()
    await assertIncrements({ storeUrl: cluster.url })
  })
})

async function assertIncrements(options: Partial<ChangesOptions>): Promise<void> {
  const { found, cuts } = await checkIncrements({ count: 160, perCut: 50, ...options })
  assert.equal(found, 160)
  assert.ok(cuts > 0)
}

async function assertCreates(options: Partial<ChangesOptions>): Promise<{ kills: number }> {
  const { found, cuts, kills } = await checkCreates({ count: 1_000, perCut: 50, ...options })
  assert.equal(found, 1_000)
  assert.ok(cuts > 0)
  return { kills }
}
