/** Tests that no change is lost or made twice while connections break and services are killed. */

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { ItemStoreClient, ItemStoreError } from '../../../src/client/client.js'
import { type CuttingProxy, cuttingProxy, type Fate } from '../../support/cutting-proxy.js'
import { type OwnService, ownService } from '../../support/own-service.js'
import { randomNumbers } from '../../support/random.js'
import { describeWithRedis, startedRedis } from '../../support/redis.js'
import { ownCluster } from '../../support/redis-cluster.js'
import { numbers } from '../../support/report.js'

const { increments, creates } = numbers({ increments: 160, creates: 1_000 })
const clients = 16
const perCut = 50 // requests between two broken connections, on average
const perKill = 1_000 // ms between two kills of a service
const passing = ['NOT_CONNECTED', 'CONNECTION_LOST', 'STORE_UNAVAILABLE'] // after a broken connection or a kill

describeWithRedis('changes at two services that share a store', () => {
  test('each increment is made once by two services on a Redis server', async () => {
    await assertIncrements((await startedRedis()).url)
  })

  test('each create is made once by two services on a Redis server, while the services are killed', async () => {
    await assertCreates((await startedRedis()).url)
  })

  test('each increment is made once by two services on a cluster', async () => {
    const cluster = await ownCluster()
    await cluster.start()
    await assertIncrements(cluster.url)
  })
})

interface Counter {
  count: number
  done: Record<string, number> // sequence number of each client's last increment
}

async function assertIncrements(storeUrl: string): Promise<void> {
  const { connect, stop } = await startServices(storeUrl)
  const { id } = await connect<Counter>(0).create({ count: 0, done: {} })
  await inParallel(async (n) => {
    const client = connect<Counter>(n)
    for (let step = 1; step <= increments / clients; step += 1) {
      const change = ({ count, done }: Counter) =>
        done[n] === step ? undefined : { count: count + 1, done: { ...done, [n]: step } }
      await untilAnswered(() => client.update(id, change, { isRepeatable: true }))
    }
  })
  const { count } = await untilAnswered(() => connect<Counter>(0).get(id))
  assert.equal(count, increments)
  await stop()
}

async function assertCreates(storeUrl: string): Promise<void> {
  const { connect, kill, stop } = await startServices(storeUrl)
  let next = 0
  const ids = new Set<string>()
  const work = inParallel(async (n) => {
    const client = connect<{ n: number }>(n)
    while (next < creates) {
      const item = { n: next }
      next += 1
      const idempotencyKey = `key-${item.n}`
      ids.add((await untilAnswered(() => client.create(item, { idempotencyKey }))).id)
    }
  })
  await kill(() => next < creates)
  await work
  const items = await untilAnswered(() => connect<{ n: number }>(0).list())
  assert.deepEqual(new Set(items.map(({ id }) => id)), ids)
  assert.deepEqual([items.length, new Set(items.map(({ n }) => n)).size], [creates, creates])
  await stop()
}

async function inParallel(work: (n: number) => Promise<void>): Promise<void> {
  await Promise.all(Array.from({ length: clients }, (_, n) => work(n)))
}

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
