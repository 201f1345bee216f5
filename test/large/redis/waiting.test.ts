/** Reads that wait for a change of items on a server: what a crowd of them takes out of it. */

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

interface Crowd {
  readonly redis: OwnRedis
  /** The service at which they wait. */
  readonly near: OwnService
  /** Another one on the same server. */
  readonly far: OwnService
  /** Sends the reads, and returns their answers once all of them wait. */
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
      await until('all of them wait', async () => (await waiting()) === count)
      return answers
    },
  }
}

/** Bytes that a server has sent. */
async function sentBy(redis: OwnRedis): Promise<number> {
  return Number(/^total_net_output_bytes:(\d+)/m.exec(await redis.command('info', 'stats'))?.[1])
}

describeWithRedis('reads that wait for a change on a server', () => {
  for (const [method, lists] of [
    ['GET', 1],
    ['HEAD', 0],
  ] as const) {
    test(`${count} ${method} of the list take ${lists} list out of it, whichever service made the change`, async () => {
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
        // The rest is for versions, which are looked at all the time.
        const taken = ((await sentBy(redis)) - before) / (items * itemBytes)
        assert.ok(taken < lists + 0.9, `${taken} lists`)
      }
    })
  }

  test(`${count} GET of an item share one read, whichever service made the change`, async () => {
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

  test('nobody is told of a list that is older than the change', async () => {
    const { near, far, wait } = await crowd()
    for (let n = 0; n < 10; n += 1) {
      const answers = await wait('GET', '/items')
      const { id } = await create(n % 2 === 0 ? near : far, { n })
      for (const answer of await Promise.all(answers)) {
        const listed = record(answer.json()).data as { id: string }[] // a list has items
        assert.ok(listed.some((item) => item.id === id))
      }
    }
  })
})
