/** The servers of deploy/replicas, started as its files say, and the script that makes them a cluster. */

import assert from 'node:assert/strict'
import { type ExecFileException, execFile } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { type OwnProcess, ownProcess } from '../support/own-process.js'
import { freePort } from '../support/process.js'
import { describeWithRedis } from '../support/redis.js'
import { root } from '../support/tools.js'
import { until } from '../support/until.js'
import { parseYaml, parseYamlDocuments } from '../support/yaml.js'

interface Compose {
  readonly 'x-valkey': { command: string[] }
  readonly services: { cluster: { command: string[] } }
}
interface Workload {
  readonly metadata: { name: string }
  readonly spec: { template: { spec: { containers: { command?: string[] }[] } } }
}

/** One of the six, at an address of its own in the loopback net. */
interface Server {
  readonly folder: string
  address: string
  process?: OwnProcess
}

const password = 'secret'
const folder = mkdtempSync(join(tmpdir(), 'item-store-join-'))
const [port, busPort] = await Promise.all([freePort(), freePort()])
const PATH = [programs(), process.env.PATH].join(delimiter)
const script = join(root, 'deploy/replicas/join.sh')

const compose = parseYaml<Compose>(textOf('deploy/replicas/compose.yaml'))
const kubernetes = parseYamlDocuments<Workload>(textOf('deploy/replicas/kubernetes.yaml'))
const commands = {
  compose: (compose['x-valkey'].command.at(-1) ?? '').replaceAll('$$', '$'),
  kubernetes: workload('valkey'),
}

describeWithRedis('the cluster of deploy/replicas', () => {
  test('compose.yaml: six new servers become a cluster; one that has lost its data joins it again', async () => {
    const servers = sixServers('compose', 1)
    for (const server of servers) start(server, commands.compose)
    const shipped = compose.services.cluster.command.at(-1) ?? ''
    assert.match(shipped, /(?:10\.89\.0\.1\d:6379[\s\\]+){5}10\.89\.0\.16:6379/)
    await joined(servers)
    await assertReplicated(servers)

    const [lost] = servers
    assert.ok(lost)
    await stop(lost)
    rmSync(lost.folder, { recursive: true })
    start(lost, commands.compose)
    await joined(servers)
    await assertReplicated(servers)
    await Promise.all(servers.map(stop))
  })

  test('kubernetes.yaml: half a cluster is completed; it is whole again when servers have other addresses', async () => {
    assert.match(workload('valkey-cluster'), /(?:valkey-\d\.valkey:6379[\s\\]+){6}/)
    const servers = sixServers('kubernetes', 11)
    for (const server of servers) start(server, commands.kubernetes)
    await Promise.all(servers.map(answers))
    const [first, second] = servers
    assert.ok(first && second)
    assert.equal(await command(first, 'cluster', 'addslotsrange', '0', '5460'), 'OK')
    await command(first, 'cluster', 'meet', second.address, `${port}`, `${busPort}`)
    await joined(servers)
    await assertReplicated(servers)
    assert.equal(await command(first, 'set', 'key', 'value'), 'OK')

    await Promise.all(servers.map(stop))
    // Some addresses are new, the others are those that another had.
    for (const [n, server] of servers.entries()) server.address = `127.89.0.${13 + ((n + 1) % 6)}`
    for (const server of servers) start(server, commands.kubernetes)
    await joined(servers)
    assert.equal(await command(first, 'get', 'key'), 'value')

    await stop(first)
    first.address = '127.89.0.30'
    start(first, commands.kubernetes)
    await joined(servers)
    assert.equal(await command(first, 'get', 'key'), 'value')
    await assertReplicated(servers)
  })
})

function textOf(file: string): string {
  return readFileSync(join(root, file), 'utf8')
}

/** The shell command of the first container. */
function workload(name: string): string {
  const found = kubernetes.find(
    ({ metadata, spec }) => metadata.name === name && 'template' in spec,
  )
  return found?.spec.template.spec.containers[0]?.command?.at(-1) ?? ''
}

/** A folder with the programs of the image, by those of Redis. */
function programs(): string {
  const bin = join(folder, 'bin')
  mkdirSync(bin)
  const at = '--bind "$POD_IP" --bind-source-addr "$POD_IP"'
  const lines = {
    'valkey-cli': 'exec redis-cli "$@"',
    'docker-entrypoint.sh': 'exec "$@"',
    'valkey-server': `exec redis-server ${at} --port ${port} --cluster-port ${busPort} "$@"`,
  }
  for (const [name, line] of Object.entries(lines)) {
    writeFileSync(join(bin, name), `#!/bin/sh\n${line}\n`)
    chmodSync(join(bin, name), 0o755)
  }
  return bin
}

function sixServers(name: string, from: number): Server[] {
  return Array.from({ length: 6 }, (_, n) => ({
    folder: join(folder, `${name}-${n}`),
    address: `127.89.0.${from + n}`,
  }))
}

function start(server: Server, shipped: string): void {
  assert.ok(shipped.includes('--dir /data '))
  mkdirSync(server.folder, { recursive: true })
  const line = shipped.replace('--dir /data ', `--dir ${server.folder} `)
  const variables = { REDISCLI_AUTH: password, VALKEY_PASSWORD: password, POD_IP: server.address }
  server.process = ownProcess(['sh', '-c', line], {
    cwd: server.folder,
    env: { PATH, ...variables },
  })
}

async function stop({ process }: Server): Promise<void> {
  process?.child.kill('SIGKILL')
  await process?.ended()
}

async function answers(server: Server): Promise<void> {
  await until(`${server.address} answers`, () => command(server, 'ping').catch(() => false))
}

/** Runs the script until it says that the cluster is whole, with a pause after each step, as both files do. */
async function joined(servers: readonly Server[]): Promise<void> {
  const hosts = servers.map(({ address }) => `${address}:${port}`)
  const step = async () => (await isWhole(hosts)) || (await delay(300, false))
  await until('the cluster is whole', step, 60_000)
}

async function isWhole(hosts: string[]): Promise<boolean> {
  try {
    const env = { PATH, REDISCLI_AUTH: password }
    const { stdout } = await promisify(execFile)('sh', [script, ...hosts], { env })
    assert.equal(stdout, '')
    return true
  } catch (error) {
    const { code } = error as ExecFileException // what execFile rejects with
    if (code !== 1) throw error
    return false
  }
}

async function command({ address }: Server, ...args: string[]): Promise<string> {
  const env = { PATH, REDISCLI_AUTH: password }
  const all = ['-e', '-c', '-h', address, '-p', String(port), ...args]
  return (await promisify(execFile)('redis-cli', all, { env })).stdout.trimEnd()
}

/** That there are three masters with slots, each with one replica. */
async function assertReplicated(servers: readonly Server[]): Promise<void> {
  const lines = await Promise.all(
    servers.map(async (server) => {
      const all = await command(server, 'cluster', 'nodes')
      return all.split('\n').find((line) => line.includes('myself')) ?? ''
    }),
  )
  const fields = lines.map((line) => line.split(' '))
  const masters = fields.filter((all) => all.length > 8).map(([id]) => id)
  const followed = fields.filter(([, , role]) => role === 'myself,slave').map((all) => all[3])
  assert.equal(masters.length, 3)
  assert.deepEqual(followed.sort(), masters.sort())
}
