/** Tests list requests for one project's items, with the items on a Redis server. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { itemOf, itemsOf } from '../../conformance/expect.js'
import { isPending, readWaiting, tagOf } from '../../decisions/expect.js'
import type { OwnService } from '../../support/own-service.js'
import { ownProcess } from '../../support/process.js'
import { describeWithRedis, startedRedis } from '../../support/redis.js'
import { root } from '../../support/tools.js'
import { patient, serviceOn } from './expect.js'

const decisions = fileURLToPath(new URL('../../decisions/project-lists.test.js', import.meta.url))

async function create(service: OwnService, project_id: string, length = 0): Promise<string> {
  const body = { data: { text: 'x'.repeat(length) }, project_id }
  return itemOf(await service.call('POST', '/items', body), 201).id
}

/** @param from service that provides the current entity tag. */
async function wait(service: OwnService, path: string, from = service) {
  return { answer: readWaiting(service, path, await tagOf(from, path), 'wait=60') }
}

describeWithRedis('lists of one project on a Redis server', () => {
  test('lists of one project pass the decision tests on a Redis server', async () => {
    const redis = await startedRedis()
    const { baseUrl, secret } = await serviceOn(redis.url, patient)
    const env = { BASE_URL: baseUrl.href, JWT_SECRET: secret }
    const command = [process.execPath, '--test', '--test-reporter=tap', decisions] as const
    const { ended, printed } = ownProcess(command, { cwd: root, env })
    await ended(240_000)
    const output = await printed(/^# duration_ms/m)
    assert.deepEqual(output.match(/^ *not ok .*/gm) ?? [], [])
    assert.match(output, /^# pass [1-9]/m)
  })

  test('the list of a project has the same tag at all services, and a read waits for their changes', async () => {
    const redis = await startedRedis()
    const [first, second] = [
      await serviceOn(redis.url, patient),
      await serviceOn(redis.url, patient),
    ]
    const path = '/items?project_id=own'
    const ids = [await create(first, 'own'), await create(second, 'own')]
    for (const change of [
      async () => ids.push(await create(second, 'own')),
      async () => second.call('DELETE', `/items/${ids.pop()}`),
      async () => second.call('PUT', `/items/${ids.pop()}`, { data: {}, project_id: 'other' }),
      async () => first.call('DELETE', `/items/${ids.pop()}`),
    ]) {
      const { answer } = await wait(first, path, second)
      await create(second, 'other')
      assert.ok(await isPending(answer, 600))
      await change()
      const listed = itemsOf(await answer).map(({ id }) => id)
      assert.deepEqual(listed.sort(), ids.toSorted())
    }
  })

  test('a list of one project reads only the buckets that have its items, and nothing for a HEAD', async () => {
    const redis = await startedRedis()
    const service = await serviceOn(redis.url, patient)
    for (let n = 0; n < 30; n += 1) await create(service, 'other', 1_000_000)
    const ids = [await create(service, 'own', 10), await create(service, 'own', 10)]
    const sentBytes = async () =>
      Number(/^total_net_output_bytes:(\d+)/m.exec(await redis.command('info', 'stats'))?.[1])
    const path = '/items?project_id=own'
    const before = await sentBytes()
    for (let time = 0; time < 3; time += 1) {
      assert.equal((await service.call('HEAD', path)).status, 200)
      assert.equal((await service.call('HEAD', '/items?project_id=none')).status, 200)
    }
    assert.deepEqual(
      itemsOf(await service.call('GET', path))
        .map(({ id }) => id)
        .sort(),
      ids.sort(),
    )
    const bytes = (await sentBytes()) - before
    assert.ok(bytes < 5_000_000, `${bytes} bytes`) // a bucket may have an item of each project
  })
})
