/** Tests that no create is lost or made twice while connections break and services are killed. */

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { ItemStoreClient, ItemStoreError } from '../../../src/client/client.js'
import { type CuttingProxy, cuttingProxy, type Fate } from '../../support/cutting-proxy.js'
import { type OwnService, ownService } from '../../support/own-service.js'
import { randomNumbers } from '../../support/random.js'
import { describeWithRedis, startedRedis } from '../../support/redis.js'
import { numbers } from '../../support/report.js'

const { creates } = numbers({ creates: 1_000 })
const clients = 16
const perCut = 50 // requests between two broken connections, on average
const perKill = 1_000 // ms between two kills of a service
const passing = ['NOT_CONNECTED', 'CONNECTION_LOST', 'STORE_UNAVAILABLE'] // after a broken connection or a kill

describeWithRedis('two services on one Redis server', () => {
  test('make each create once while connections break and the services are killed', async () => {
    const { connect, kill, stop } = await startServices((await startedRedis()).url)
    let next = 0
    const ids = new Set<string>()
    const work = Array.from({ length: clients }, async (_, n) => {
      const client = connect<{ n: number }>(n)
      while (next < creates) {
        const item = { n: next }
        next += 1
        const idempotencyKey = `key-${item.n}`
        ids.add((await untilAnswered(() => client.create(item, { idempotencyKey }))).id)
      }
    })
    await kill(() => next < creates)
    await Promise.all(work)
    const items = await untilAnswered(() => connect<{ n: number }>(0).list())
    assert.deepEqual(new Set(items.map(({ id }) => id)), ids)
    assert.deepEqual([items.length, new Set(items.map(({ n }) => n)).size], [creates, creates])
    await stop()
  })
})

async function untilAnswered<R>(call: () => Promise<R>): Promise<R> {
  for (;;) {
    try {
      return await call()
    } catch (error) {
      if (!(error instanceof ItemStoreError && passing.includes(error.code ?? ''))) throw error
    }
  }
}

async function startServices(storeUrl: string) {
  const env = { JWT_SECRET: randomBytes(32).toString('base64url'), STORE_URL: storeUrl }
  const random = randomNumbers()
  const fates: Fate[] = ['cut before', 'cut after']
  const fate = () => fates[random(fates.length * perCut)] ?? 'passed'
  const services: OwnService[] = []
  const proxies: CuttingProxy[] = []
  for (const n of [0, 1]) {
    services.push(await ownService(env))
    proxies.push(await cuttingProxy(() => Number(services[n]?.baseUrl.port), fate))
  }

  return {
    connect<T extends object>(n: number): ItemStoreClient<T> {
      const { baseUrl } = proxies[n % proxies.length] ?? assert.fail()
      return new ItemStoreClient<T>({ baseUrl, token: services[0]?.validToken() ?? '' })
    },
    async kill(isUnderWay: () => boolean) {
      do {
        await delay(perKill)
        const n = random(services.length)
        services[n]?.child.kill('SIGKILL')
        await services[n]?.ended()
        services[n] = await ownService(env)
      } while (isUnderWay())
    },
    async stop() {
      for (const service of services) await service.stop()
      assert.ok(proxies.reduce((sum, { cuts }) => sum + cuts, 0) > 0)
    },
  }
}
