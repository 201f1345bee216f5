/** Tests how much data the Redis server sends when many reads wait for a change. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { Answer } from '../../conformance/client.js'
import { create, itemOf } from '../../conformance/expect.js'
import { readWaiting, tagOf } from '../../decisions/expect.js'
import { measuredService } from '../../support/own-service.js'
import { until } from '../../support/process.js'
import { describeWithRedis, startedRedis } from '../../support/redis.js'
import { patient, serviceOn } from './expect.js'

const count = 25
const items = 40
const itemBytes = 100_000

async function crowd() {
  const redis = await startedRedis()
  const near = await measuredService({ STORE_URL: redis.url, ...patient })
  const far = await serviceOn(redis.url, patient)

  async function sentBytes(): Promise<number> {
    return Number(/^total_net_output_bytes:(\d+)/m.exec(await redis.command('info', 'stats'))?.[1])
  }

  /** Makes a change while reads wait at the service `near`. Returns the responses, and how many bytes Redis sent. */
  async function waitFor(method: string, path: string, change: () => Promise<unknown>) {
    const tag = String((await near.call('HEAD', path)).headers.etag)
    const reads = Array.from({ length: count }, () =>
      readWaiting(near, path, tag, 'wait=60', { method }),
    )
    await until('all reads wait', async () => (await near.waitingReads()) === count)
    const before = await sentBytes()
    await change()
    const answers: Answer[] = await Promise.all(reads)
    return { answers, bytes: (await sentBytes()) - before }
  }

  return { near, far, waitFor }
}

describeWithRedis('reads that wait for a change on a Redis server', () => {
  for (const [method, lists] of [
    ['GET', 1],
    ['HEAD', 0],
  ] as const) {
    test(`for ${count} waiting ${method} of the list, Redis sends ${lists} lists after a change by any service`, async () => {
      const { near, far, waitFor } = await crowd()
      for (let n = 0; n < items; n += 1) await create(near, { text: 'x'.repeat(itemBytes) })
      for (const service of [near, far]) {
        const change = () => create(service, { by: service.baseUrl.host })
        const { answers, bytes } = await waitFor(method, '/items', change)
        for (const { status, text } of answers) {
          assert.equal(status, 200)
          if (method === 'GET') assert.ok(text.includes(service.baseUrl.host))
        }
        // The bytes include the replies to the services' continuous version polls.
        const taken = bytes / (items * itemBytes)
        assert.ok(taken < lists + 0.9, `${taken} lists`)
      }
    })
  }

  test('an item that another service deletes after 60 ms from an empty store wakes all who wait for it', async () => {
    const { near, far } = await crowd()
    const kept = await create(far, {}) // so that the service polls all the time
    const polled = readWaiting(
      near,
      `/items/${kept.id}`,
      await tagOf(near, `/items/${kept.id}`),
      'wait=60',
    )
    for (let round = 0; round < 12; round += 1) {
      const body = { data: { round }, project_id: 'own' }
      const { id } = itemOf(await far.call('POST', '/items', body), 201)
      const paths = [`/items/${id}`, '/items', '/items?project_id=own']
      const waits = paths.map(async (path) =>
        readWaiting(near, path, await tagOf(near, path), 'wait=5'),
      )
      await until('all reads wait', async () => (await near.waitingReads()) === waits.length + 1)
      await delay(round * 5) // any time between two polls
      await far.call('DELETE', `/items/${id}`)
      const statuses = (await Promise.all(waits)).map(({ status }) => status)
      assert.deepEqual(statuses, [404, 200, 200], `round ${round}`)
    }
    await far.call('DELETE', `/items/${kept.id}`)
    assert.equal((await polled).status, 404)
  })

  test(`for ${count} waiting GET of an item, Redis sends it less than 4 times after a change by any service`, async () => {
    const { near, far, waitFor } = await crowd()
    const text = 'x'.repeat(itemBytes)
    const path = `/items/${(await create(near, { text })).id}`
    for (const service of [near, far]) {
      const data = { text, by: service.baseUrl.host }
      const change = () => service.call('PUT', path, { data })
      const { answers, bytes } = await waitFor('GET', path, change)
      for (const answer of answers) assert.equal(itemOf(answer, 200).by, data.by)
      assert.ok(bytes < 4 * itemBytes, `${bytes / itemBytes} reads`)
    }
  })
})
