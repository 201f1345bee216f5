/** Tests how much data the Redis server sends when many reads wait for a change. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Answer } from '../../conformance/client.js'
import { create, itemOf, itemsOf } from '../../conformance/expect.js'
import { readWaiting } from '../../decisions/expect.js'
import { measuredService } from '../../support/measured-service.js'
import { type OwnService, ownService } from '../../support/own-service.js'
import { describeWithRedis, type OwnRedis, startedRedis } from '../../support/redis.js'
import { until } from '../../support/until.js'

const count = 25
const items = 40
const itemBytes = 100_000

interface Crowd {
  readonly redis: OwnRedis
  readonly near: OwnService
  readonly far: OwnService
  /** Resolves once all reads wait for a change. */
  wait(method: string, path: string): Promise<Promise<Answer>[]>
}

async function crowd(): Promise<Crowd> {
  const redis = await startedRedis()
  const env = { STORE_URL: redis.url, STORE_TIMEOUT: '20s' }
  const near = await measuredService(env)
  const far = await ownService(env)
  return {
    redis,
    near,
    far,
    async wait(method, path) {
      const tag = String((await near.call('HEAD', path)).headers.etag)
      const answers = Array.from({ length: count }, () =>
        readWaiting(near, path, tag, 'wait=60', { method }),
      )
      await until('all reads wait', async () => (await near.waitingReads()) === count)
      return answers
    },
  }
}

async function sentBy(redis: OwnRedis): Promise<number> {
  return Number(/^total_net_output_bytes:(\d+)/m.exec(await redis.command('info', 'stats'))?.[1])
}

describeWithRedis('reads that wait for a change on a Redis server', () => {
  for (const [method, lists] of [
    ['GET', 1],
    ['HEAD', 0],
  ] as const) {
    test(`for ${count} waiting ${method} of the list, Redis sends ${lists} lists after a change by any service`, async () => {
      const { redis, near, far, wait } = await crowd()
      for (let n = 0; n < items; n += 1) await create(near, { text: 'x'.repeat(itemBytes) })
      for (const service of [near, far]) {
        const answers = await wait(method, '/items')
        const before = await sentBy(redis)
        await create(service, { new: true })
        for (const answer of await Promise.all(answers)) {
          assert.equal(answer.status, 200)
          if (method === 'GET') assert.match(answer.text, /"new":true/)
        }
        // The bytes include versions, which each service polls continuously.
        const taken = ((await sentBy(redis)) - before) / (items * itemBytes)
        assert.ok(taken < lists + 0.9, `${taken} lists`)
      }
    })
  }

  test(`for ${count} waiting GET of an item, Redis sends it less than 4 times after a change by any service`, async () => {
    const { redis, near, far, wait } = await crowd()
    const text = 'x'.repeat(itemBytes)
    const path = `/items/${(await create(near, { text })).id}`
    for (const [service, by] of [
      [near, 'near'],
      [far, 'far'],
    ] as const) {
      const answers = await wait('GET', path)
      const before = await sentBy(redis)
      await service.call('PUT', path, { data: { text, by } })
      for (const answer of await Promise.all(answers)) assert.equal(itemOf(answer, 200).by, by)
      const reads = ((await sentBy(redis)) - before) / itemBytes
      assert.ok(reads < 4, `${reads} reads`)
    }
  })

  test('no waiting read gets a list that is older than the change', async () => {
    const { near, far, wait } = await crowd()
    for (let n = 0; n < 10; n += 1) {
      const answers = await wait('GET', '/items')
      const { id } = await create(n % 2 === 0 ? near : far, { n })
      for (const answer of await Promise.all(answers)) {
        assert.ok(itemsOf(answer).some((item) => item.id === id))
      }
    }
  })
})
