/** What clients see of a service that is cut off from its engine, and that it recovers by itself. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { create } from '../conformance/expect.js'
import { servedBy, startLoad } from '../support/item-load.js'
import { describeWithNetwork, remoteRedis } from '../support/network.js'
import { ownService } from '../support/own-service.js'
import { until } from '../support/until.js'
import {
  assertNothingServed,
  assertRecovers,
  assertUnavailable,
  assertUnhealthy,
  noChange,
} from './expect.js'

/** In milliseconds: long enough for a machine that is busy, short enough to wait for. */
const timeout = 1500
/** What a request may take beyond it on a busy machine. */
const tolerance = 2000

describeWithNetwork('the network', () => {
  const cuts = [
    { title: 'the cable is out', cut: 'unplug', mend: 'plugIn' },
    { title: 'all packets vanish', cut: 'swallow', mend: 'letThrough' },
  ] as const

  test('is cut: 503 in time, at once from the second request on, and full service afterwards', async () => {
    const redis = await remoteRedis()
    const service = await ownService({ STORE_URL: redis.url, STORE_TIMEOUT: `${timeout}ms` })
    const { id } = await create(service, {})
    for (const { title, cut, mend } of cuts) {
      const load = startLoad(service)
      await until('there are items', () => servedBy(load) > 100)
      await redis[cut]()
      const sent = performance.now()
      assertUnavailable(await service.call('GET', `/items/${id}`), /^The store/)
      assert.ok(performance.now() - sent < timeout + tolerance, `no answer in time when ${title}`)
      await until('requests are refused', () => (load.statuses.get(503) ?? 0) > 50)
      await assertUnhealthy(service)
      await assertNothingServed(service, noChange)
      await redis[mend]()
      await assertRecovers(service)
      const before = servedBy(load)
      await until('items are served again', () => servedBy(load) > before + 100)
      await load.stop()
      assert.deepEqual(await load.lost(), [])
    }
    assert.deepEqual(await service.stop(), [0, null])
  })

  test('is cut when the service starts: it starts, and serves once the engine can be reached', async () => {
    const redis = await remoteRedis()
    await redis.swallow()
    const service = await ownService({ STORE_URL: redis.url, STORE_TIMEOUT: `${timeout}ms` })
    await assertUnhealthy(service)
    await redis.letThrough()
    await assertRecovers(service)
  })
})
