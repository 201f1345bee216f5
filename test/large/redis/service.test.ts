/** Tests the service on a Redis server: the conformance tests, its settings and its metrics. */

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { readConfig } from '../../../src/config/read-config.js'
import { create, stored } from '../../conformance/expect.js'
import { newCertificate } from '../../support/certificate.js'
import { assertConforms } from '../../support/conformance.js'
import { loadedFiles } from '../../support/loaded-files.js'
import { measuredService, ownService, withLimits } from '../../support/own-service.js'
import { freePort, ownProcess, until } from '../../support/process.js'
import { describeWithRedis, documentedRights, startedRedis } from '../../support/redis.js'
import { ownStore } from '../../support/redis-store.js'
import { describeRoundTrip } from '../../support/round-trip.js'
import { stalledRead } from '../../support/socket.js'
import { emptyFolder, root } from '../../support/tools.js'
import { assertServes, assertUnhealthy, causeIn, patient, serviceOn } from './expect.js'

const forTexts = await startedRedis()

describeWithRedis('the service on a Redis server', () => {
  test('the service passes the conformance tests on a Redis server', async () => {
    const redis = await startedRedis()
    await assertConforms({ STORE_URL: redis.url, ...patient })
    assert.notEqual(await redis.command('keys', 'item-store:{[0-9]*'), '')
  })

  test('lists of one project pass the decision tests on a Redis server', async () => {
    const redis = await startedRedis()
    const { baseUrl, secret } = await serviceOn(redis.url, patient)
    const env = { BASE_URL: baseUrl.href, JWT_SECRET: secret }
    const file = join(root, 'build/test/decisions/project-lists.test.js')
    const command = [process.execPath, '--test', '--test-reporter=tap', file] as const
    const { ended, printed } = ownProcess(command, { cwd: root, env })
    await ended(240_000)
    const output = await printed(/^# duration_ms/m)
    assert.deepEqual(output.match(/^ *not ok .*/gm) ?? [], [])
    assert.match(output, /^# pass [1-9]/m)
  })

  test('the items survive a restart of the service, but are not shared with another STORE_PREFIX', async () => {
    const redis = await startedRedis()
    const start = (STORE_PREFIX: string) => serviceOn(redis.url, { ...patient, STORE_PREFIX })
    const first = await start('test:')
    const item = await create(first, { big: 1 })
    await first.stop()
    assert.deepEqual(await stored(await start('test:'), item.id), item)
    assert.equal(await stored(await start('apart:'), item.id), undefined)
  })

  test('of slow readers of large items, those that hold the most for the longest are cut', async () => {
    const redis = await startedRedis()
    const limited = withLimits({ maxReaderBytes: 25_000_000 })
    const service = await ownService({ STORE_URL: redis.url, ...patient }, limited)
    const small = await create(service, { name: 'small' })
    const { id } = await create(service, { pad: 'x'.repeat(8_000_000) })
    const reads = []
    for (let count = 0; count < 6; count += 1) {
      reads.push(await stalledRead(service, `/items/${id}`))
      assert.deepEqual(await stored(service, small.id), small)
    }
    for (const [place, read] of reads.entries()) {
      const body = await read.body()
      assert.equal(body === undefined, place < 3, String(place)) // three items fit
    }
    const cuts = () => service.log.filter(({ limit }) => limit === 'memory for readers').length
    const before = await until('a line', () => cuts())
    await create(service, { pad: 'y'.repeat(8_000_000) })
    for (let count = 0; count < 8; count += 1) await stalledRead(service, '/items')
    await until('a list is cut', () => cuts() > before)
    assert.deepEqual(await stored(service, small.id), small)
  })

  describeRoundTrip('on one Redis server', () => ownStore({ url: forTexts.url }), 100)

  test('the OpenAPI document promises neither order nor snapshots for lists on a Redis server', async () => {
    const redis = await startedRedis()
    const service = await serviceOn(redis.url, patient)
    const document = (await service.requestTarget('GET', '/openapi.json')).text
    assert.match(document, /in no particular order, each once; changes made while/)
    assert.doesNotMatch(document, /order of their creation|one moment|place in the list/)
  })

  test('the metrics include the number of items, and the memory of the Redis server', async () => {
    const redis = await startedRedis()
    const service = await measuredService({ STORE_URL: redis.url, ...patient })
    await create(service, { name: 'a' })
    const metrics = await service.metrics()
    for (const line of [
      ...['items 1', 'item_bytes \\d\\d', 'redis_round_trip_seconds_count [1-9]\\d*'],
      ...['redis_commands_in_flight \\d+', 'redis_commands_waiting \\d+'],
      'redis_unknown_outcomes_total 0',
    ]) {
      assert.match(metrics, new RegExp(`^item_store_${line}$`, 'm'))
    }
    const used = Number(/^item_store_memory_bytes (\d+)$/m.exec(metrics)?.[1])
    assert.ok(used > 500_000, `${used} bytes`)
  })

  test('on a Redis server, the service needs only the rights that docs/how-to/redis.md gives it', async () => {
    const port = await freePort()
    const redis = await startedRedis('--port', String(port))
    await redis.command('acl', 'setuser', 'u', 'on', '>p', '~item-store:*', ...documentedRights())
    const url = `redis://u:p@127.0.0.1:${port}/1`
    await assertServes(await serviceOn(url, patient))
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
    assert.equal(await loaded({ STORE_URL: redis.url, ...patient }), true)
    assert.equal(await loaded({}), false)
  })

  test('the service connects with TLS only if it trusts the certificate of the Redis server', async () => {
    const port = await freePort()
    const [certificate, key] = newCertificate()
    const files = ['--tls-cert-file', certificate, '--tls-key-file', key]
    await startedRedis('--tls-port', String(port), '--tls-auth-clients', 'no', ...files)
    const url = `rediss://127.0.0.1:${port}`
    await assertServes(await serviceOn(url, { ...patient, NODE_EXTRA_CA_CERTS: certificate }))
    const unknowing = await serviceOn(url, patient)
    await assertUnhealthy(unknowing)
    assert.match(causeIn(unknowing), /self-signed certificate/)
  })
})

test('an invalid STORE_URL is rejected with a message that does not contain the password', () => {
  const message =
    /^STORE_URL is not usable in the environment; .*\nSTORE_PREFIX is "a\{b\}" in the environment; expected text without/
  for (const STORE_URL of [
    'secret',
    'redis://:secret%zz@host',
    'redis+cluster://:secret@a:1,b:0',
  ]) {
    const read = () => readConfig({}, { STORE_PREFIX: 'a{b}', STORE_URL })
    assert.throws(read, { message })
    assert.throws(read, (error: Error) => !error.message.includes('secret'))
  }
})
