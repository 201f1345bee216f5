/** What clients see of a service that is cut off from its engine, and that it recovers by itself. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { create } from '../../conformance/expect.js'
import { startLoad, untilMoreIsServed } from '../../support/item-load.js'
import { describeWithNetwork, remoteRedis } from '../../support/network.js'
import { ownService } from '../../support/own-service.js'
import { until } from '../../support/until.js'
import {
  assertNothingServed,
  assertRecovers,
  assertUnavailable,
  assertUnhealthy,
  noChange,
} from './expect.js'

/** Long enough for a machine that is busy, shorter than the client of the tests waits. */
const STORE_TIMEOUT = '1500ms'

describeWithNetwork('the network', () => {
  const cuts = [
    { cut: 'unplug', mend: 'plugIn' },
    { cut: 'swallow', mend: 'letThrough' },
  ] as const

  test('is cut: 503 in time, at once from the second request on, and full service afterwards', async () => {
    const redis = await remoteRedis()
    const service = await ownService({ STORE_URL: redis.url, STORE_TIMEOUT })
    const { id } = await create(service, {})
    for (const { cut, mend } of cuts) {
      const load = startLoad(service)
      await untilMoreIsServed(load)
      await redis[cut]()
      assertUnavailable(await service.call('GET', `/items/${id}`), /^The store/)
      await until('requests are refused', () => (load.statuses.get(503) ?? 0) > 50)
      await assertUnhealthy(service)
      await assertNothingServed(service, noChange)
      await redis[mend]()
      await assertRecovers(service)
      await untilMoreIsServed(load)
      await load.stop()
      assert.deepEqual(await load.lost(), [])
    }
    assert.deepEqual(await service.stop(), [0, null])
  })

  test('is cut when the service starts: it starts, and serves once the engine can be reached', async () => {
    const redis = await remoteRedis()
    await redis.swallow()
    const service = await ownService({ STORE_URL: redis.url, STORE_TIMEOUT })
    await assertUnhealthy(service)
    await redis.letThrough()
    await assertRecovers(service)
  })
})
