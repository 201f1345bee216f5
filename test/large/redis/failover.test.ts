/** Tests a service that reaches Redis through a proxy, which switches to another server on a failover. */

import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import { test } from 'node:test'
import { create, stored } from '../../conformance/expect.js'
import { assertNothingLost, servedLoad, untilMoreIsServed } from '../../support/item-load.js'
import { freePort, listen, until } from '../../support/process.js'
import { describeWithRedis, type OwnRedis, startedRedis } from '../../support/redis.js'
import { proxyTo } from '../../support/redis-proxy.js'
import {
  assertDown,
  assertOneOutage,
  assertServes,
  assertUnavailable,
  assertUnhealthy,
  linesBeforeOutage,
  noChange,
  serviceOn,
} from './expect.js'

describeWithRedis('a planned failover', () => {
  test('after a failover, the service serves again once its address leads to the new primary, and no item is lost', async (t) => {
    const [primary, replica] = await pair()
    const proxy = await proxyTo(primary)
    const service = await serviceOn(proxy.url)
    const load = await servedLoad(service)
    const lines = await linesBeforeOutage(service)
    await failover(primary)
    await until('requests are refused', () => (load.statuses.get(503) ?? 0) > 20)
    await assertUnhealthy(service)
    proxy.moveTo(replica)
    const moved = performance.now()
    await assertServes(service)
    t.diagnostic(`healthy after ${Math.round(performance.now() - moved)} ms`)
    await untilMoreIsServed(load)
    await assertOneOutage(service, lines)
    await assertNothingLost(load)
    const causes = service.log.map(({ cause }) => cause)
    assert.ok(causes.includes('the server is a replica'), JSON.stringify(causes))
  })

  test('a service that only reads does not read from the former primary', async () => {
    const [primary, replica] = await pair()
    const proxy = await proxyTo(primary)
    const service = await serviceOn(proxy.url)
    const { id } = await create(service, {})
    const read = () => service.call('GET', `/items/${id}`)
    await failover(primary)
    await until('reads are refused', async () => (await read()).status === 503)
    for (let n = 0; n < 50; n += 1) assertUnavailable(await read(), /^The store/)
    await assertDown(service)
    proxy.moveTo(replica)
    await assertServes(service)
    assert.ok(await stored(service, id))
  })

  test('the service reconnects less and less often to a primary that refuses changes like a replica, and logs each cause once', async () => {
    const info = 'role:master\r\ncluster_enabled:0\r\n'
    let connections = 0
    let isGone = false
    const server = createServer((socket) => {
      connections += 1
      socket.on('error', () => undefined)
      if (isGone) socket.destroy()
      socket.on('data', (data) => {
        const [, ...commands] = data.toString().split(/^\*\d+\r\n/m)
        for (const command of commands) {
          const isInfo = command.includes('INFO')
          socket.write(isInfo ? `$${info.length}\r\n${info}\r\n` : '-READONLY no\r\n')
        }
      })
    }).unref()
    const service = await serviceOn(`redis://127.0.0.1:${await listen(server)}`)
    const begun = performance.now()
    await until('the service has connected nine times', async () => {
      assertUnavailable(await service.call('POST', '/items', { data: {} }), noChange)
      return connections >= 9
    })
    // The pauses between the first nine connections are at least 50, 100, 200, 400 and four times 500 ms.
    assert.ok(performance.now() - begun > 2700, `${connections} connections`)
    isGone = true
    const lines = () => service.log.filter(({ msg }) => /be reached/.test(String(msg)))
    await until('the log has the new cause', () => lines().length > 1)
    const [first, second] = lines()
    assert.deepEqual(
      [first?.msg, first?.cause, second?.msg],
      [
        'the store cannot be reached',
        'the server is a replica',
        'the store still cannot be reached',
      ],
    )
  })
})

async function pair(): Promise<[primary: OwnRedis, replica: OwnRedis]> {
  const [port, other] = [String(await freePort()), String(await freePort())]
  const primary = await startedRedis('--port', port, '--repl-diskless-sync-delay', '0')
  const replica = await startedRedis('--port', other, '--repl-diskless-sync-delay', '0')
  await replica.command('replicaof', '127.0.0.1', port)
  await untilInSync(primary)
  return [primary, replica]
}

async function failover(primary: OwnRedis): Promise<void> {
  await untilInSync(primary)
  assert.equal(await primary.command('failover'), 'OK')
  await until('the former primary is a replica', async () =>
    /^role:slave.*^master_link_status:up/ms.test(await primary.command('info', 'replication')),
  )
}

async function untilInSync(primary: OwnRedis): Promise<void> {
  await until('the replica is in sync', async () =>
    (await primary.command('info', 'replication')).includes('state=online'),
  )
}
