/** Tests that a service follows the Redis sentinels to another primary. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import {
  type ItemLoad,
  type Success,
  startLoad,
  successesOf,
  untilMoreIsServed,
} from '../../support/item-load.js'
import { freePort } from '../../support/process.js'
import { describeWithRedis, isInstalled } from '../../support/redis.js'
import {
  type OwnSentinel,
  ownSentinel,
  primaryName,
  type WatchedServer,
  watchedServer,
} from '../../support/redis-sentinel.js'
import { until } from '../../support/until.js'
import { assertDown, assertServes, causeIn, serviceOn } from './expect.js'

/** Maximum time until an acknowledged write has reached the replicas, in milliseconds. */
const replicationLag = 2000
/** Maximum time until the service uses a primary that sentinels have named, in milliseconds. */
const followingTime = 2000
const password = 'p@ss'
const access = ['-a', password, '--no-auth-warning']
const authentication = [`sentinel auth-pass ${primaryName} ${password}`]
const credentials = `:${encodeURIComponent(password)}@`

/** There is one replica for each fault, because sentinels promote no server that was just down. */
const settings = ['--requirepass', password, '--masterauth', password]
const servers = await Promise.all(Array.from({ length: 7 }, () => watchedServer(...settings)))
const sentinels: OwnSentinel[] = []
if (isInstalled) await startAll()

function urlOf(some: readonly { port: number }[], name = primaryName): string {
  return `redis+sentinel://${credentials}${some.map(({ port }) => `127.0.0.1:${port}`)}/${name}/0`
}

describeWithRedis('a Redis primary that sentinels watch', async () => {
  /** This service is never restarted, so it must recover from each fault by itself. */
  const service = await serviceOn(urlOf(sentinels))
  const failover = () => sentinels[0]?.command('sentinel', 'failover', primaryName)

  const faults: { title: string; begin: (primary: WatchedServer) => unknown }[] = [
    { title: 'killed', begin: (primary) => primary.kill('SIGKILL') },
    {
      title: 'stopped while one sentinel is down',
      begin: async (primary) => {
        await sentinels.pop()?.kill('SIGKILL')
        await primary.kill('SIGSTOP')
      },
    },
    { title: 'cut off from sentinels and replicas', begin: (primary) => primary.cutOff() },
    { title: 'demoted by SENTINEL FAILOVER', begin: failover },
  ]
  for (const { title, begin } of faults) {
    test(`the primary is ${title}: the service sends its changes to the new primary within 2 s`, async (t) => {
      const primary = await untilInSync()
      const load = startLoad(service, { mayLose: true })
      await untilMoreIsServed(load)
      const begun = performance.now()
      await begin(primary)
      const named = await untilAnotherIsNamed(primary)
      await delay(followingTime) // changes sent after this time must reach the new primary
      await untilMoreIsServed(load)
      await assertServes(service)
      await load.stop()
      const lost = await lostOf(load)
      const early = lost.filter(({ acknowledged }) => begun - acknowledged >= replicationLag)
      assert.deepEqual(early, [], 'a change that the replicas must have had is lost')
      const late = lost.filter(({ sent }) => sent > named + followingTime)
      assert.deepEqual(late, [], 'a change was sent to the former primary')
      t.diagnostic(`${lost.length} of ${successesOf(load)} successes lost`)
    })
  }

  test('the primary is demoted while the service is idle: its next changes are not lost', async () => {
    const primary = await untilInSync()
    await failover()
    await untilAnotherIsNamed(primary)
    const load = startLoad(service)
    await untilMoreIsServed(load)
    await load.stop()
    assert.deepEqual(await lostOf(load), [])
  })

  test('the primary is demoted while the service is stopped (SIGSTOP): its later changes are not lost', async () => {
    const primary = await untilInSync()
    const load = startLoad(service, { mayLose: true })
    await untilMoreIsServed(load)
    service.child.kill('SIGSTOP')
    const stopped = performance.now()
    await until('the replicas have all acknowledged changes', async () => {
      const info = await primary.command(...access, 'info', 'replication')
      const written = Number(/^master_repl_offset:(\d+)/m.exec(info)?.[1])
      const received = [...info.matchAll(/state=online,offset=(\d+)/g)]
      return received.every(([, offset]) => Number(offset) >= written)
    })
    await failover()
    await untilAnotherIsNamed(primary)
    service.child.kill('SIGCONT')
    await untilMoreIsServed(load)
    await load.stop()
    const late = (await lostOf(load)).filter(({ acknowledged }) => acknowledged > stopped)
    assert.deepEqual(late, [])
  })

  test('the service keeps using its primary while no sentinel replies, and logs that once', async () => {
    const other = await serviceOn(urlOf(sentinels))
    await assertServes(other)
    const said = (msg: RegExp) => other.log.filter((line) => msg.test(String(line.msg))).length
    for (const sentinel of sentinels) await sentinel.kill('SIGSTOP')
    await until('the silence is logged', () => said(/^a failover will not be noticed/) === 1)
    await assertServes(other)
    for (const sentinel of sentinels) await sentinel.kill('SIGCONT')
    await until('the return is logged', () => said(/^the sentinels can be reached again$/) === 1)
    await assertServes(other)
  })

  test('a sentinel that requires a password gets the password of the server', async () => {
    const { port } = await knownPrimary()
    const sentinel = await ownSentinel(port, [...authentication, `requirepass ${password}`])
    const other = await serviceOn(urlOf([sentinel]))
    await assertServes(other)
  })

  const mistakes = [
    {
      title: 'a name that the sentinels do not know',
      url: () => urlOf(sentinels, 'other'),
      cause: /^the sentinels know no primary with the name/,
    },
    {
      title: 'an address without a sentinel',
      url: async () => urlOf([{ port: await freePort() }]),
      cause: /^no sentinel replied: connect ECONNREFUSED/,
    },
    {
      title: 'the address of a server instead of a sentinel',
      url: async () => urlOf([await knownPrimary()]),
      cause: /^no sentinel replied: ERR unknown command/,
    },
    {
      title: 'the address of a sentinel instead of a server',
      url: () => `redis://127.0.0.1:${sentinels[0]?.port}`,
      cause: /^the server is a sentinel: STORE_URL/,
    },
  ]
  for (const { title, url, cause } of mistakes) {
    test(`with ${title} in STORE_URL, the service is unhealthy and logs the cause`, async () => {
      const wrong = await serviceOn(await url())
      await assertDown(wrong)
      assert.match(causeIn(wrong), cause)
      assert.doesNotMatch(JSON.stringify(wrong.log), /p@ss|p%40ss/)
    })
  }
})

async function startAll(): Promise<void> {
  await Promise.all(servers.map((server) => server.start()))
  const [primary, ...replicas] = servers
  for (const replica of replicas) {
    await replica.command(...access, 'replicaof', '127.0.0.1', String(primary?.port))
  }
  const start = () => ownSentinel(primary?.port ?? 0, authentication)
  sentinels.push(...(await Promise.all([start(), start(), start()])))
  await untilInSync()
}

async function namedBy(sentinel: OwnSentinel | undefined): Promise<WatchedServer> {
  const reply = await sentinel?.command('sentinel', 'get-master-addr-by-name', primaryName)
  return servers.find(({ port }) => String(port) === reply?.split('\n')[1]) ?? assert.fail(reply)
}

function knownPrimary(): Promise<WatchedServer> {
  return namedBy(sentinels[0])
}

/** Returns the time (`performance.now()`) at which a sentinel names another primary. */
async function untilAnotherIsNamed(primary: WatchedServer): Promise<number> {
  return await until('another server is the primary', async () => {
    const named = await Promise.all(sentinels.map(namedBy))
    return named.some((one) => one !== primary) && performance.now()
  })
}

/** Waits until all sentinels know that a replica is in sync. Returns the primary. */
async function untilInSync(): Promise<WatchedServer> {
  return await until('a replica can take over', async () => {
    const primary = await knownPrimary()
    const info = await primary.command(...access, 'info', 'replication')
    const areReady = await Promise.all(
      sentinels.map(async (sentinel) => {
        const fields = (await sentinel.command('sentinel', 'master', primaryName)).split('\n')
        const fieldOf = (name: string) => fields[fields.indexOf(name) + 1]
        const replicas = await sentinel.command('sentinel', 'replicas', primaryName)
        return (
          fieldOf('port') === String(primary.port) &&
          fieldOf('flags') === 'master' &&
          fieldOf('num-other-sentinels') === '2' &&
          /\nflags\nslave\n.*?\nmaster-link-status\nok\n/s.test(replicas)
        )
      }),
    )
    return info.includes('state=online') && areReady.every(Boolean) && primary
  })
}

/** Asks a new service, because the tested service might still use a former primary. */
async function lostOf(load: ItemLoad): Promise<readonly Success[]> {
  return await load.lost(await serviceOn(urlOf(sentinels)))
}
