/** Tests how a service responds while its Redis server fails, and that the service recovers. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { send } from '../../conformance/client.js'
import { create, itemOf, listed } from '../../conformance/expect.js'
import { assertRefused } from '../../decisions/expect.js'
import { startLoad, untilMoreIsServed } from '../../support/item-load.js'
import { type OwnService, ownService } from '../../support/own-service.js'
import { freePort } from '../../support/process.js'
import { describeWithRedis, type OwnRedis, ownRedis, startedRedis } from '../../support/redis.js'
import { until } from '../../support/until.js'
import {
  assertNothingServed,
  assertRecovers,
  assertUnavailable,
  assertUnhealthy,
  noChange,
  STORE_TIMEOUT,
  unknownOutcome,
} from './expect.js'

function serviceOn(url: string, env: NodeJS.ProcessEnv = {}): Promise<OwnService> {
  return ownService({ STORE_URL: url, STORE_TIMEOUT, ...env })
}

async function started(...settings: string[]): Promise<{ redis: OwnRedis; service: OwnService }> {
  const redis = await startedRedis(...settings)
  return { redis, service: await serviceOn(redis.url) }
}

describeWithRedis('faults of the Redis server', () => {
  test('the service starts before Redis: it serves once Redis is up', async () => {
    const redis = ownRedis()
    const service = await serviceOn(redis.url)
    await assertUnhealthy(service)
    await assertNothingServed(service, noChange)
    await redis.start()
    await assertRecovers(service)
  })

  test('Redis is killed under load: requests succeed or get a 503, and no acknowledged change is lost', async () => {
    const { redis, service } = await started('--appendonly', 'yes', '--appendfsync', 'always')
    const load = startLoad(service)
    await untilMoreIsServed(load)
    await redis.kill('SIGKILL')
    await until('requests are refused', () => (load.statuses.get(503) ?? 0) > 20)
    await redis.start()
    await untilMoreIsServed(load)
    await load.stop()
    assert.deepEqual(await load.lost(), [])
  })

  test('Redis is killed while a list is sent: the connection is closed before the end of the list', async () => {
    const { redis, service } = await started()
    const text = 'x'.repeat(1_000_000)
    for (let n = 0; n < 60; n += 1) await create(service, { text })
    const headers = { authorization: `Bearer ${service.validToken()}` }
    const { status, body } = await fetch(`${service.baseUrl}/items`, { headers })
    assert.equal(status, 200)
    const reader = body?.getReader()
    await reader?.read()
    await redis.kill('SIGKILL')
    await assert.rejects(async () => {
      for (;;) if ((await reader?.read())?.done !== false) return
    })
    await redis.start()
    await assertRecovers(service)
  })

  test('Redis is restarted without its data: the service no longer has any items', async () => {
    const { redis, service } = await started()
    const { id } = await create(service, {})
    await redis.kill('SIGKILL')
    await redis.start()
    await assertRecovers(service)
    assert.equal((await service.call('GET', `/items/${id}`)).status, 404)
    assert.deepEqual(await listed(service), [])
  })

  test('Redis is paused: requests get a 503, and afterwards no response belongs to another request', async () => {
    const { redis, service } = await started()
    const items = await Promise.all(
      Array.from({ length: 50 }, (_, n) => create(service, { n }).then(({ id }) => ({ id, n }))),
    )
    await redis.kill('SIGSTOP')
    try {
      const bodies = ['POST', 'PUT', 'DELETE'] as const
      const sent = await Promise.all(
        bodies.map((method) => {
          const path = method === 'POST' ? '/items' : `/items/${items[0]?.id}`
          return service.call(method, path, method === 'DELETE' ? undefined : { data: { n: 0 } })
        }),
      )
      for (const answer of sent) assertUnavailable(answer, unknownOutcome)
      await assertNothingServed(service, noChange)
      await assertUnhealthy(service)
    } finally {
      await redis.kill('SIGCONT')
    }
    await assertRecovers(service)
    const answers = await Promise.all(
      items.slice(1).map(({ id }) => service.call('GET', `/items/${id}`)),
    )
    assert.deepEqual(
      answers.map((answer) => itemOf(answer, 200).n),
      items.slice(1).map(({ n }) => n),
    )
  })

  test('Redis is slow: a request succeeds if the reply takes less than STORE_TIMEOUT', async () => {
    const { redis, service } = await started()
    await redis.command('client', 'pause', '400', 'all')
    await create(service, {})
  })

  test('the memory of Redis is full: changes that need memory get a 507, and all other requests succeed', async () => {
    const { redis, service } = await started('--maxmemory', '8mb')
    const ids: string[] = []
    const text = 'x'.repeat(200_000)
    const fill = () =>
      until('the server is full', async () => {
        const answer = await service.call('POST', '/items', { data: { text } })
        if (answer.status === 201) ids.push(itemOf(answer, 201).id)
        return answer.status !== 201 && answer
      })
    assertRefused(await fill(), 507, 'STORE_FULL')
    assert.ok(ids.length > 5, `${ids.length} items`)
    const [first, ...others] = ids
    const grown = await service.call('PUT', `/items/${first}`, { data: { text: text + text } })
    assertRefused(grown, 507, 'STORE_FULL')
    const as = (text: string) => service.call('PUT', `/items/${first}`, { data: { text } })
    assert.equal((await as(text.replaceAll('x', 'y'))).status, 200)
    const { text: replaced } = itemOf(await service.call('GET', `/items/${first}`), 200)
    assert.match(String(replaced), /^y{200000}$/)
    assert.equal((await service.request('GET', '/health')).status, 200)
    assert.equal((await listed(service)).length, ids.length)
    for (const id of others) {
      assert.equal((await service.call('DELETE', `/items/${id}`)).status, 204)
    }
    assert.equal((await as(text + text)).status, 200)
    ids.length = 0
    assertRefused(await fill(), 507, 'STORE_FULL')
    assert.ok(ids.length > 3, `${ids.length} items after nearly everything was deleted`)
    assert.equal(await redis.command('exists', 'item-store:none'), '0')
  })

  test('Redis becomes a replica: nothing is served until it is a primary again', async () => {
    const { redis, service } = await started()
    await create(service, { name: 'a' })
    await redis.command('replicaof', '127.0.0.1', String(await freePort()))
    assertUnavailable(await service.call('POST', '/items', { data: {} }), noChange)
    await assertUnhealthy(service)
    await assertNothingServed(service, noChange)
    await redis.command('replicaof', 'no', 'one')
    await assertRecovers(service)
  })

  test('the service has a wrong password: nothing is served until Redis accepts it', async () => {
    const port = await freePort()
    const redis = await startedRedis('--port', String(port), '--requirepass', 'right')
    const url = (password: string) => `redis://:${password}@127.0.0.1:${port}/3`
    const [right, wrong] = [await serviceOn(url('right')), await serviceOn(url('wr%40ng'))]
    const { id } = await create(right, {})
    for (const service of [wrong, await serviceOn(`redis://127.0.0.1:${port}/3`)]) {
      await assertUnhealthy(service)
      await assertNothingServed(service, noChange)
      assert.doesNotMatch(JSON.stringify(service.log), /wr%40ng|wr@ng/)
    }
    await redis.command('-a', 'right', '--no-auth-warning', 'config', 'set', 'requirepass', 'wr@ng')
    await assertRecovers(wrong)
    assert.equal((await wrong.call('GET', `/items/${id}`)).status, 200)
    assert.equal((await right.call('GET', `/items/${id}`)).status, 200)
  })

  test('another program has overwritten a key: its items get a 503, and the service is unhealthy until the key is deleted', async () => {
    const { redis, service } = await started()
    await create(service, {})
    const [key = ''] = (await redis.command('keys', 'item-store:{[0-9]*')).split('\n')
    const number = Number(/\{(\d+)\}/.exec(key)?.[1])
    const id = `${number.toString(16).padStart(4, '0')}0000-0000-4000-8000-000000000000`
    await redis.command('del', key)
    await redis.command('set', key, 'something else')
    await assertUnhealthy(service)
    assertUnavailable(await service.call('GET', `/items/${id}`), /rejected the request/)
    assertUnavailable(await service.call('PUT', `/items/${id}`, { data: {} }), noChange)
    assertUnavailable(await service.call('DELETE', `/items/${id}`), noChange)
    assert.equal(await redis.command('get', key), 'something else')
    await redis.command('del', key)
    await assertRecovers(service)
  })

  test('Redis is paused when the service stops: the service still exits with code 0', async () => {
    const { redis, service } = await started()
    await create(service, {})
    await redis.kill('SIGSTOP')
    try {
      const request = send(service.baseUrl, 'GET', '/api/v1/items', { token: service.validToken() })
      const stopped = service.stop()
      await request.catch(() => undefined)
      assert.deepEqual(await stopped, [0, null])
    } finally {
      await redis.kill('SIGCONT')
    }
  })
})
