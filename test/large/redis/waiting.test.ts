/** Tests how much data many waiting reads make the Redis server send after a change. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Answer } from '../../conformance/client.js'
import { create, itemOf, record } from '../../conformance/expect.js'
import { type OwnService, ownService } from '../../support/own-service.js'
import { freePort } from '../../support/process.js'
import { describeWithRedis, type OwnRedis, startedRedis } from '../../support/redis.js'
import { until } from '../../support/until.js'

const count = 25
const items = 40
const itemBytes = 100_000

/** Many waiting reads, with the two services and the Redis server of the test. */
interface Crowd {
  readonly redis: OwnRedis
  /** The service at which all reads wait. */
  readonly near: OwnService
  /** Another service on the same Redis server. */
  readonly far: OwnService
  /** Sends the reads. Resolves once all of them wait. @returns the pending responses. */
  wait(method: string, path: string): Promise<Promise<Answer>[]>
}

async function crowd(): Promise<Crowd> {
  const redis = await startedRedis()
  const env = { STORE_URL: redis.url, STORE_TIMEOUT: '20s' }
  const port = await freePort()
  const near = await ownService({ ...env, METRICS_PORT: String(port) })
  const far = await ownService(env)
  const waiting = async () => {
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
    return Number(/^item_store_waiting_reads (\d+)$/m.exec(text)?.[1])
  }
  return {
    redis,
    near,
    far,
    async wait(method, path) {
      const tag = String((await near.call('HEAD', path)).headers.etag)
      const headers = { 'if-none-match': tag, prefer: 'wait=60' }
      const token = near.validToken()
      const answers = Array.from({ length: count }, () =>
        near.request(method, path, { token, headers }),
      )
      await until('all reads wait', async () => (await waiting()) === count)
      return answers
    },
  }
}

/** Returns the number of bytes that a Redis server has sent. */
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
        // The remaining bytes are versions, which each service polls continuously.
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
        const listed = record(answer.json()).data as { id: string }[] // a list has items with ids
        assert.ok(listed.some((item) => item.id === id))
      }
    }
  })
})
