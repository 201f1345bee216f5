/** Tests how a service responds while its Redis server fails, and that the service recovers. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { create, itemOf, listed, stored } from '../../conformance/expect.js'
import { assertRefused } from '../../decisions/expect.js'
import { assertNothingLost, servedLoad } from '../../support/item-load.js'
import { freePort, until } from '../../support/process.js'
import { describeWithRedis, ownRedis, startedRedis } from '../../support/redis.js'
import {
  assertDown,
  assertServes,
  assertUnavailable,
  assertUnhealthy,
  patient,
  serviceOn,
  unknownOutcome,
} from './expect.js'

async function started(...settings: string[]) {
  const redis = await startedRedis(...settings)
  return { redis, service: await serviceOn(redis.url) }
}

describeWithRedis('faults of the Redis server', () => {
  test('the service starts before Redis: it serves once Redis is up', async () => {
    const redis = ownRedis()
    const service = await serviceOn(redis.url)
    await assertDown(service)
    await redis.start()
    await assertServes(service)
  })

  test('Redis is killed under load: requests succeed or get a 503, and no acknowledged change is lost', async () => {
    const { redis, service } = await started('--appendonly', 'yes', '--appendfsync', 'always')
    const load = await servedLoad(service)
    await redis.kill('SIGKILL')
    await until('requests are refused', () => (load.statuses.get(503) ?? 0) > 20)
    await redis.start()
    await assertNothingLost(load)
  })

  test('Redis is killed while a list is sent: the connection is closed before the end of the list, and later lists are empty', async () => {
    const { redis, service } = await started()
    const text = 'x'.repeat(1_000_000)
    for (let n = 0; n < 60; n += 1) await create(service, { text })
    const headers = { authorization: `Bearer ${service.validToken()}` }
    const { status, body } = await fetch(`${service.baseUrl}/items`, { headers })
    assert.equal(status, 200)
    const chunks = body?.values() ?? assert.fail('no body')
    await chunks.next()
    await redis.kill('SIGKILL')
    await assert.rejects(async () => {
      for (;;) if ((await chunks.next()).done) return
    })
    await redis.start() // the server has lost its data
    await assertServes(service)
    assert.deepEqual(await listed(service), [])
  })

  test('Redis is paused: requests get a 503, and afterwards no response belongs to another request', async () => {
    const { redis, service } = await started()
    const creates = Array.from({ length: 50 }, (_, n) => create(service, { n }))
    const [changed, ...others] = await Promise.all(creates)
    const path = `/items/${changed?.id}`
    await redis.kill('SIGSTOP')
    const changes = [
      service.call('POST', '/items', { data: {} }),
      service.call('PUT', path, { data: {} }),
      service.call('DELETE', path),
    ]
    for (const answer of await Promise.all(changes)) assertUnavailable(answer, unknownOutcome)
    await assertDown(service)
    await redis.kill('SIGCONT')
    await assertServes(service)
    const found = await Promise.all(others.map(({ id }) => stored(service, id)))
    assert.deepEqual(found, others)
  })

  test('Redis is restarted within STORE_TIMEOUT: requests that come meanwhile are served', async () => {
    const redis = await startedRedis('--appendonly', 'yes', '--appendfsync', 'always')
    const service = await serviceOn(redis.url, patient)
    const { id } = await create(service, {})
    await redis.kill('SIGKILL')
    await assertUnhealthy(service)
    const created = Array.from({ length: 20 }, () => create(service, {}))
    const read = stored(service, id)
    await redis.start()
    await Promise.all(created)
    assert.ok(await read)
  })

  test('the memory of Redis is full: changes that need memory get a 507, and all other requests succeed', async () => {
    const { service } = await started('--maxmemory', '8mb')
    const text = 'x'.repeat(200_000)
    const fill = async () => {
      const ids: string[] = []
      while (ids.length < 100) {
        const answer = await service.call('POST', '/items', { data: { text } })
        if (answer.status === 201) ids.push(itemOf(answer, 201).id)
        else {
          assertRefused(answer, 507, 'STORE_FULL')
          return ids
        }
      }
      assert.fail('the server is never full')
    }
    const ids = await fill()
    assert.ok(ids.length > 5, `${ids.length} items`)
    const [first = '', ...others] = ids
    const put = (text: string) => service.call('PUT', `/items/${first}`, { data: { text } })
    assertRefused(await put(text + text), 507, 'STORE_FULL')
    const same = text.replaceAll('x', 'y')
    assert.equal((await put(same)).status, 200)
    assert.equal((await stored(service, first))?.text, same)
    assert.equal((await service.request('GET', '/health')).status, 200)
    assert.equal((await listed(service)).length, ids.length)
    for (const id of others) {
      assert.equal((await service.call('DELETE', `/items/${id}`)).status, 204)
    }
    assert.equal((await put(text + text)).status, 200)
    const more = await fill()
    assert.ok(more.length > 3, `${more.length} items after nearly everything was deleted`)
  })

  test('the service has a wrong password: nothing is served until Redis accepts it', async () => {
    const port = await freePort()
    const redis = await startedRedis('--port', String(port), '--requirepass', 'right')
    const url = (password: string) => `redis://:${password}@127.0.0.1:${port}/3`
    const [right, wrong] = [await serviceOn(url('right')), await serviceOn(url('wr%40ng'))]
    const { id } = await create(right, {})
    for (const service of [wrong, await serviceOn(`redis://127.0.0.1:${port}/3`)]) {
      await assertDown(service)
      assert.doesNotMatch(JSON.stringify(service.log), /wr%40ng|wr@ng/)
    }
    await redis.command('-a', 'right', '--no-auth-warning', 'config', 'set', 'requirepass', 'wr@ng')
    await assertServes(wrong)
    for (const service of [wrong, right]) assert.ok(await stored(service, id))
  })

  test('Redis is paused when the service stops: the service still exits with code 0', async () => {
    const { redis, service } = await started()
    await create(service, {})
    await redis.kill('SIGSTOP')
    const request = service.call('GET', '/items')
    const stopped = service.stop()
    await request.catch(() => undefined)
    assert.deepEqual(await stopped, [0, null])
    await redis.kill('SIGCONT')
  })
})
