/** What clients see of a service whose server is watched by sentinels, when another one takes over. */

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { newCertificate } from '../../support/certificate.js'
import { servedBy, startLoad, untilMoreIsServed } from '../../support/item-load.js'
import { ownProcess } from '../../support/own-process.js'
import { type OwnService, ownService } from '../../support/own-service.js'
import { freePort } from '../../support/process.js'
import { describeWithRedis, isInstalled, type OwnRedis, ownRedis } from '../../support/redis.js'
import { until } from '../../support/until.js'
import {
  assertNothingServed,
  assertOneOutage,
  assertRecovers,
  assertUnhealthy,
  linesBeforeOutage,
  noChange,
} from './expect.js'

/** The name of the primary that is watched. */
const primaryName = 'main'
/** Long enough for servers that are well on a busy machine, short enough to wait for. */
const STORE_TIMEOUT = '1000ms'
/** An acknowledged write is on the replicas long before that is over, in milliseconds. */
const replicationLag = 2000
const password = 'p@ss'
const access = ['-a', password, '--no-auth-warning']
const authentication = [`sentinel auth-pass ${primaryName} ${password}`]
const credentials = `:${encodeURIComponent(password)}@`

/** So many that there is a replica left after each fault: sentinels take 10 s until they use one that is back. */
const ports = await Promise.all(Array.from({ length: 4 }, freePort))
const servers = ports.map((port) =>
  ownRedis(
    ...['--port', String(port), '--requirepass', password, '--masterauth', password],
    ...['--repl-diskless-sync-delay', '0'],
  ),
)
const sentinels: OwnSentinel[] = []
if (isInstalled) await startAll()

function urlOf(some: readonly { port: number }[], name = primaryName): string {
  return `redis+sentinel://${credentials}${some.map(({ port }) => `127.0.0.1:${port}`)}/${name}/0`
}

describeWithRedis('a server that sentinels watch', async () => {
  /** Meets all faults in turn, and is never started again. */
  const service = await ownService({ STORE_URL: urlOf(sentinels), STORE_TIMEOUT })

  const faults = [
    {
      title: 'is killed',
      replicas: 3,
      isOneOutage: true,
      begin: (primary: OwnRedis) => primary.kill('SIGKILL'),
    },
    {
      title: 'is stopped while a sentinel is gone',
      replicas: 2,
      begin: async (primary: OwnRedis) => {
        await sentinels.pop()?.kill()
        await primary.kill('SIGSTOP')
      },
    },
    {
      title: 'is demoted (SENTINEL FAILOVER)',
      replicas: 1,
      begin: () => sentinels[0]?.command('sentinel', 'failover', primaryName),
    },
  ]
  for (const { title, replicas, isOneOutage, begin } of faults) {
    test(`${title}: writes go on with another one, and nothing older is lost`, async (t) => {
      const primary = await untilInSync(replicas)
      const load = startLoad(service, { mayLose: true })
      await untilMoreIsServed(load)
      const begun = performance.now()
      const lines = await linesBeforeOutage(service)
      await begin(primary)
      await until('another one is the primary', async () => (await knownPrimary()) !== primary)
      await assertRecovers(service)
      t.diagnostic(`healthy after ${((performance.now() - begun) / 1000).toFixed(1)} s`)
      await untilMoreIsServed(load)
      // One that was not killed may be found again for a moment, while it is still the primary.
      if (isOneOutage) await assertOneOutage(service, lines)
      await load.stop()
      const lost = await load.lost()
      const oldest = Math.max(0, ...lost.map((time) => begun - time))
      t.diagnostic(
        `${lost.length} lost of ${servedBy(load)} answers that were successes, ` +
          `the oldest ${oldest.toFixed(0)} ms before that`,
      )
      assert.ok(oldest < replicationLag, 'an older write is lost')
    })
  }

  test('a sentinel that requires a password gets that of the server', async () => {
    const port = portOf(await knownPrimary())
    const sentinel = await ownSentinel(port, [...authentication, `requirepass ${password}`])
    const other = await ownService({ STORE_URL: urlOf([sentinel]), STORE_TIMEOUT })
    await assertRecovers(other)
  })

  test('sentinels and servers with TLS are spoken to with TLS', async () => {
    const port = await freePort()
    const [certificate, key] = newCertificate()
    const tls = [
      ...[`tls-cert-file ${certificate}`, `tls-key-file ${key}`, `tls-ca-cert-file ${certificate}`],
      ...['tls-auth-clients no', 'tls-replication yes'],
    ]
    const server = ownRedis(
      '--tls-port',
      String(port),
      ...tls.flatMap((line) => `--${line}`.split(' ')),
    )
    await server.start()
    const sentinel = await ownSentinel(port, tls)
    const STORE_URL = urlOf([sentinel]).replace('redis', 'rediss').replace(credentials, '')
    await assertRecovers(
      await ownService({ STORE_URL, STORE_TIMEOUT, NODE_EXTRA_CA_CERTS: certificate }),
    )
  })

  const mistakes = [
    {
      title: 'a name that they do not know',
      url: () => urlOf(sentinels, 'other'),
      cause: /^the sentinels know no primary named other$/,
    },
    {
      title: 'no sentinel where the address says',
      url: async () => urlOf([{ port: await freePort() }]),
      cause: /^no sentinel replied: connect ECONNREFUSED/,
    },
    {
      title: 'a server in place of the sentinels',
      url: async () => urlOf([{ port: portOf(await knownPrimary()) }]),
      cause: /^no sentinel replied: ERR unknown command/,
    },
    {
      title: 'a sentinel in place of the server',
      url: () => `redis://127.0.0.1:${sentinels[0]?.port}`,
      cause: /^the server is a sentinel: STORE_URL/,
    },
  ]
  for (const { title, url, cause } of mistakes) {
    test(`${title}: unhealthy, with the cause in the log`, async () => {
      const wrong = await ownService({ STORE_URL: await url(), STORE_TIMEOUT })
      await assertUnhealthy(wrong)
      await assertNothingServed(wrong, noChange)
      assert.match(causeIn(wrong), cause)
      assert.doesNotMatch(JSON.stringify(wrong.log), /p@ss|p%40ss/)
    })
  }
})

async function startAll(): Promise<void> {
  await Promise.all(servers.map((server) => server.start()))
  for (const replica of servers.slice(1)) {
    await replica.command(...access, 'replicaof', '127.0.0.1', String(ports[0]))
  }
  const start = () => ownSentinel(ports[0] ?? 0, authentication)
  sentinels.push(...(await Promise.all([start(), start(), start()])))
  await untilInSync(3)
}

function portOf(server: OwnRedis): number {
  return ports[servers.indexOf(server)] ?? 0
}

/** The one that the first sentinel names. */
async function knownPrimary(): Promise<OwnRedis> {
  const reply = await sentinels[0]?.command('sentinel', 'get-master-addr-by-name', primaryName)
  const primary = servers[ports.indexOf(Number(reply?.split('\n')[1]))]
  assert.ok(primary, reply)
  return primary
}

/** Waits until any of the replicas can take over. @returns the primary. */
async function untilInSync(replicas: number): Promise<OwnRedis> {
  const primary = await until('the replicas are in sync', async () => {
    const primary = await knownPrimary()
    const info = await primary.command(...access, 'info', 'replication')
    return info.split('state=online').length - 1 === replicas && primary
  })
  for (const sentinel of sentinels) {
    await until('the sentinel knows all', async () => {
      const fields = (await sentinel.command('sentinel', 'master', primaryName)).split('\n')
      const fieldOf = (name: string) => fields[fields.indexOf(name) + 1]
      return (
        fieldOf('port') === String(portOf(primary)) &&
        fieldOf('flags') === 'master' &&
        fieldOf('num-other-sentinels') === '2' &&
        healthyReplicas(await sentinel.command('sentinel', 'replicas', primaryName)) === replicas
      )
    })
  }
  return primary
}

function healthyReplicas(reply: string): number {
  return reply.split('\nflags\nslave\n').length - 1
}

function causeIn({ log }: OwnService): string {
  return String(log.find(({ msg }) => msg === 'the store cannot be reached')?.cause)
}

interface OwnSentinel {
  readonly port: number
  /** Sends a command. @returns the reply as `redis-cli` prints it. */
  command(...args: string[]): Promise<string>
  kill(): Promise<void>
}

/**
 * A sentinel that has started, and ends with the test, or the test file, that starts it.
 * @param settings further lines of its configuration.
 */
async function ownSentinel(primaryPort: number, settings: readonly string[]): Promise<OwnSentinel> {
  const folder = mkdtempSync(join(tmpdir(), 'item-store-'))
  const port = await freePort()
  const lines = [
    ...(settings.includes('tls-replication yes')
      ? ['port 0', `tls-port ${port}`]
      : [`port ${port}`]),
    'bind 127.0.0.1',
    `dir ${folder}`,
    `sentinel monitor ${primaryName} 127.0.0.1 ${primaryPort} 2`,
    // In milliseconds: long enough for a busy machine; another failover may follow after twice the latter.
    `sentinel down-after-milliseconds ${primaryName} 1000`,
    `sentinel failover-timeout ${primaryName} 2000`,
    ...settings,
  ]
  const file = join(folder, 'sentinel.conf')
  writeFileSync(file, `${lines.join('\n')}\n`)
  const options = { cwd: folder, env: process.env }
  const sentinel = ownProcess(['redis-server', file, '--sentinel'], options)
  await sentinel.printed(/Sentinel ID is/)

  return {
    port,

    async command(...args) {
      const { stdout } = await promisify(execFile)('redis-cli', ['-p', String(port), ...args])
      return stdout.trimEnd()
    },

    async kill() {
      sentinel.child.kill('SIGKILL')
      await sentinel.ended()
    },
  }
}
