/** Tests that a service follows the Redis sentinels when they name another primary. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import {
  assertNothingLost,
  servedLoad,
  startLoad,
  successesOf,
  untilMoreIsServed,
} from '../../support/item-load.js'
import type { OwnService } from '../../support/own-service.js'
import { freePort, until } from '../../support/process.js'
import { describeWithRedis, isInstalled } from '../../support/redis.js'
import {
  type OwnSentinel,
  ownSentinel,
  primaryName,
  type WatchedServer,
  watchedServer,
} from '../../support/redis-sentinel.js'
import { assertDown, assertServes, causeIn, serviceOn } from './expect.js'

const replicationLag = 2000 // ms until an acknowledged write has reached the replicas
const followingTime = 2000 // ms until the service uses a newly named primary
const answerValidity = 1500 // ms for which the service relies on the sentinels' last replies
const password = 'p@ss'
const access = ['-a', password, '--no-auth-warning']
const authentication = [`sentinel auth-pass ${primaryName} ${password}`]
const credentials = `:${encodeURIComponent(password)}@`

const settings = ['--requirepass', password, '--masterauth', password]
/** A primary, and a replica for each fault: sentinels do not promote a server that has just been down. */
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

  /** Returns the lost changes, and checks that none of them was sent long after the new primary was named. */
  async function lostBefore(load: Awaited<ReturnType<typeof servedLoad>>, named: number) {
    await delay(followingTime)
    await untilMoreIsServed(load)
    await assertServes(service)
    await load.stop()
    const lost = await load.lost(await otherService())
    const late = lost.filter(({ sent }) => sent > named + followingTime)
    assert.deepEqual(late, [], 'a change was sent to the former primary')
    return lost
  }

  const faults: Record<string, (primary: WatchedServer) => unknown> = {
    killed: (primary) => primary.kill('SIGKILL'),
    'stopped while one sentinel is down': async (primary) => {
      await sentinels.pop()?.kill('SIGKILL')
      await primary.kill('SIGSTOP')
    },
    'cut off from sentinels and replicas': (primary) => primary.cutOff(),
    'demoted by SENTINEL FAILOVER': failover,
  }
  for (const [title, begin] of Object.entries(faults)) {
    test(`the primary is ${title}: the service sends its changes to the new primary within 2 s`, async (t) => {
      const primary = await untilInSync()
      const load = await servedLoad(service, { mayLose: true })
      const begun = performance.now()
      await begin(primary)
      const named = await untilAnotherIsNamed(primary)
      const lost = await lostBefore(load, named)
      const early = lost.filter(({ acknowledged }) => begun - acknowledged >= replicationLag)
      assert.deepEqual(early, [], 'a change that the replicas must have had is lost')
      t.diagnostic(`${lost.length} of ${successesOf(load)} successes lost`)
    })
  }

  test('the primary is demoted while the service is idle: its next changes are not lost', async () => {
    const primary = await untilInSync()
    await failover()
    await untilAnotherIsNamed(primary)
    await assertNothingLost(startLoad(service), await otherService())
  })

  test('the primary is demoted while the service is stopped (SIGSTOP): its later changes are not lost', async () => {
    const primary = await untilInSync()
    const load = await servedLoad(service, { mayLose: true })
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
    await delay(answerValidity)
    service.child.kill('SIGCONT')
    const lost = await lostBefore(load, performance.now())
    assert.ok(lost.every(({ acknowledged }) => acknowledged <= stopped))
  })

  test('a sentinel in TILT cannot finish a failover: the primary serves all requests until the sentinel can', async () => {
    const primary = await untilInSync()
    const [sentinel = assert.fail()] = sentinels
    await sentinel.kill('SIGSTOP')
    await delay(2500) // a sentinel that finds itself stopped for 2 s does nothing for the next 30 s
    await sentinel.kill('SIGCONT')
    await until('the sentinel is in TILT', async () =>
      (await sentinel.command('info', 'sentinel')).includes('sentinel_tilt:1'),
    )
    const load = await servedLoad(service, { mayLose: true })
    await until('the sentinel begins a failover', async () => (await failover()) === 'OK')
    await delay(3 * followingTime)
    await untilMoreIsServed(load)
    assert.ok(!load.statuses.has(503), `${load.statuses.get(503)} requests were refused`)
    await sentinel.command('sentinel', 'debug', 'tilt-period', '100')
    const named = await untilAnotherIsNamed(primary)
    await lostBefore(load, named)
  })

  test('the service keeps using its primary while no sentinel replies, and logs that once', async () => {
    const other = await otherService()
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
    await assertServes(await serviceOn(urlOf([sentinel])))
  })

  test('with a wrong name or address in STORE_URL, the service is unhealthy and logs the cause', async () => {
    const unused = { port: await freePort() }
    const mistakes = [
      [urlOf(sentinels, 'other'), /^the sentinels know no primary with the name/],
      [urlOf([unused]), /^no sentinel replied: connect ECONNREFUSED/],
      [urlOf([await knownPrimary()]), /^no sentinel replied: ERR unknown command/],
      [`redis://127.0.0.1:${sentinels[0]?.port}`, /^the server is a sentinel: STORE_URL/],
    ] as const
    for (const [url, cause] of mistakes) {
      const wrong = await serviceOn(url)
      await assertDown(wrong)
      assert.match(causeIn(wrong), cause)
      assert.doesNotMatch(JSON.stringify(wrong.log), /p@ss|p%40ss/)
    }
  })
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

/** Waits until a sentinel names another primary, and returns the time (`performance.now()`). */
async function untilAnotherIsNamed(primary: WatchedServer): Promise<number> {
  return await until('another server is the primary', async () => {
    const named = await Promise.all(sentinels.map(namedBy))
    return named.some((one) => one !== primary) && performance.now()
  })
}

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

/** Starts a second service that reads the changes, because the tested one might still use a former primary. */
function otherService(): Promise<OwnService> {
  return serviceOn(urlOf(sentinels))
}
