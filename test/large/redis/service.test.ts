/** Tests the service on a Redis server: the conformance tests, its settings and its metrics. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readConfig } from '../../../src/config/read-config.js'
import { create, itemOf } from '../../conformance/expect.js'
import { newCertificate } from '../../support/certificate.js'
import { assertConforms } from '../../support/conformance.js'
import { loadedFiles } from '../../support/loaded-files.js'
import { measuredService } from '../../support/measured-service.js'
import { ownService } from '../../support/own-service.js'
import { freePort } from '../../support/process.js'
import { describeWithRedis, documentedRights, startedRedis } from '../../support/redis.js'
import { openStore } from '../../support/redis-store.js'
import { describeRoundTrip } from '../../support/round-trip.js'
import { emptyFolder } from '../../support/tarball.js'

const STORE_TIMEOUT = '20s'

const forTexts = await startedRedis()

describeWithRedis('the service on a Redis server', () => {
  test('the service passes the conformance tests on a Redis server', async () => {
    const redis = await startedRedis()
    await assertConforms({ STORE_URL: redis.url, STORE_TIMEOUT })
    const items = (await redis.command('keys', 'item-store:{[0-9]*')).length
    assert.ok(items > 0, 'the items were not on the server')
  })

  test('the items survive a restart of the service, and are shared with another service', async () => {
    const redis = await startedRedis()
    const env = { STORE_URL: redis.url, STORE_TIMEOUT, STORE_PREFIX: 'test:' }
    const first = await ownService(env)
    const { id } = await create(first, { big: 1 })
    await first.stop()
    const [second, third] = [await ownService(env), await ownService(env)]
    const apart = await ownService({ ...env, STORE_PREFIX: 'apart:' })
    assert.equal((await second.call('GET', `/items/${id}`)).status, 200)
    assert.equal((await apart.call('GET', `/items/${id}`)).status, 404)
    for (let n = 0; n < 100; n += 1) {
      const item = await create(n % 2 === 0 ? second : third, { n })
      const answer = await (n % 2 === 0 ? third : second).call('GET', `/items/${item.id}`)
      assert.equal(itemOf(answer, 200).n, n)
    }
  })

  describeRoundTrip('on one Redis server', () => openStore({ url: forTexts.url }), 100)

  test('the OpenAPI document promises neither order nor snapshots for lists on a Redis server', async () => {
    const redis = await startedRedis()
    const service = await ownService({ STORE_URL: redis.url, STORE_TIMEOUT })
    const document = (await service.requestTarget('GET', '/openapi.json')).text
    assert.match(document, /in no particular order, each once; changes made while/)
    assert.doesNotMatch(document, /order of their creation|one moment|place in the list/)
  })

  test('the metrics include the number of items, and the memory of the Redis server', async () => {
    const redis = await startedRedis()
    const service = await measuredService({ STORE_URL: redis.url, STORE_TIMEOUT })
    await create(service, { name: 'a' })
    const metrics = await service.metrics()
    assert.match(metrics, /^item_store_items 1$/m)
    assert.match(metrics, /^item_store_redis_round_trip_seconds_count [1-9]/m)
    assert.match(metrics, /^item_store_redis_commands_in_flight \d+$/m)
    assert.match(metrics, /^item_store_redis_commands_waiting \d+$/m)
    assert.match(metrics, /^item_store_redis_unknown_outcomes_total 0$/m)
    assert.match(metrics, /^item_store_item_bytes \d\d$/m)
    const used = Number(/^item_store_memory_bytes (\d+)$/m.exec(metrics)?.[1])
    assert.ok(used > 500_000, `${used} bytes`)
  })

  test('on a Redis server, the service needs only the rights that docs/reference/redis.md lists', async () => {
    const port = await freePort()
    const redis = await startedRedis('--port', String(port))
    await redis.command('acl', 'setuser', 'u', 'on', '>p', '~item-store:*', ...documentedRights())
    const url = `redis://u:p@127.0.0.1:${port}/1`
    const service = await ownService({ STORE_URL: url, STORE_TIMEOUT })
    const { id } = await create(service, { name: 'a' })
    const path = `/items/${id}`
    assert.equal((await service.call('GET', path)).status, 200)
    assert.equal((await service.call('PUT', path, { data: { name: 'b' } })).status, 200)
    assert.equal((await service.call('GET', '/items')).status, 200)
    assert.equal((await service.request('GET', '/health')).status, 200)
    assert.equal((await service.call('DELETE', path)).status, 204)
  })

  test('the service loads @redis/client only if STORE_URL is set', async () => {
    const redis = await startedRedis()
    const loaded = async (env: NodeJS.ProcessEnv) => {
      const folder = emptyFolder()
      const service = await ownService({ ...env, NODE_V8_COVERAGE: folder })
      await service.request('GET', '/health') // once a service responds, it also handles signals
      assert.deepEqual(await service.stop(), [0, null])
      return loadedFiles(folder).some((url) => url.includes('/@redis/client/'))
    }
    assert.equal(await loaded({ STORE_URL: redis.url, STORE_TIMEOUT }), true)
    assert.equal(await loaded({}), false)
  })

  test('the service connects with TLS only if it trusts the certificate of the Redis server', async () => {
    const port = await freePort()
    const [certificate, key] = newCertificate()
    const files = ['--tls-cert-file', certificate, '--tls-key-file', key]
    await startedRedis('--tls-port', String(port), '--tls-auth-clients', 'no', ...files)
    const env = { STORE_URL: `rediss://127.0.0.1:${port}`, STORE_TIMEOUT }
    const knowing = await ownService({ ...env, NODE_EXTRA_CA_CERTS: certificate })
    await create(knowing, {})
    assert.equal((await knowing.request('GET', '/health')).status, 200)
    const unknowing = await ownService(env)
    assert.equal((await unknowing.request('GET', '/health')).status, 503)
    assert.match(JSON.stringify(unknowing.log), /self-signed certificate/)
  })
})

test('an invalid STORE_URL is rejected with a message that does not contain the password', () => {
  const urls = [
    ...['secret', 'http://:secret@host', 'redis://', 'redis://:secret@host/x'],
    ...['redis://:secret@host:6379?db=1', 'redis://:secret@host:99999', 'redis://:secret@a,b/1'],
    ...['redis://:secret%zz@host', 'redis://secret@host', 'redis://secret:@host'],
    ...['redis://:secret@host:0', 'redis://:secret@host:0/1', 'redis+unix://secret@/socket'],
    ...['redis+cluster://secret@a,b', 'redis+cluster://:secret@a:1,b:0'],
    ...['redis+cluster://:secret@host/1', 'redis+cluster://:secret@a,,b'],
    ...['rediss+cluster://:secret@a,b:port', 'redis+unix://:secret@host'],
    'redis+unix:///socket?secret=1',
  ]
  const others = { JWT_SECRET: 'x', STORE_PREFIX: 'a{b}', STORE_TIMEOUT: '5ms' }
  const lines = [
    /^STORE_URL is not usable in the environment; expected (?:redis:|a URL with a scheme)/,
    /^STORE_PREFIX is "a\{b\}" in the environment; expected text without/,
    /^STORE_TIMEOUT is "5ms" in the environment; expected a time from 10ms/,
  ]
  for (const STORE_URL of urls) {
    assert.throws(
      () => readConfig({}, { ...others, STORE_URL }),
      ({ message }: Error) => {
        for (const [n, line] of message.split('\n').entries()) assert.match(line, lines[n] ?? /^$/)
        assert.equal(message.split('\n').length, lines.length)
        assert.doesNotMatch(message, /secret/)
        return true
      },
    )
  }
})
