/** Runs the commands in deploy/ that create a Redis cluster. */

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { freePort, type OwnProcess, ownProcess, until } from '../../support/process.js'
import { describeWithRedis } from '../../support/redis.js'
import { emptyFolder, readText } from '../../support/tools.js'
import { parseYaml } from '../../support/yaml.js'

interface Compose {
  readonly 'x-valkey': { command: string[] }
  readonly services: { cluster: { command: string[] } }
}
interface Workload {
  readonly kind: string
  readonly spec: { template: { spec: { containers: { command: string[] }[] } } }
}

const password = 'secret'
const folder = emptyFolder()

const files = [composeCommands('127.89.1'), kubernetesCommands('127.89.2')]

for (const { file, net, server, create, check } of files) {
  describeWithRedis(`the cluster of ${file}`, () => {
    test('the cluster is created from six new servers, and does not change when all are restarted', async () => {
      const [port, busPort] = await Promise.all([freePort(), freePort()])
      const env = {
        PATH: [programs(net, port, busPort), process.env.PATH].join(delimiter),
        REDISCLI_AUTH: password,
        VALKEY_PASSWORD: password,
      }
      const shell = (command: string) =>
        promisify(execFile)('sh', ['-c', command.replaceAll(':6379', `:${port}`)], { env })
      const cli = async (args: string) =>
        (await shell(`valkey-cli -e -c -h ${net}.11 ${args}`)).stdout.trimEnd()
      const answers = (args: string, answer: string) =>
        until(`${args}: ${answer}`, async () => (await cli(args).catch(() => '')) === answer)

      const untilDone = (command: string) => shell(`until ( ${command} ); do sleep 0.2; done`)
      const made = untilDone(create)
      const before = startServers()
      const { stdout } = await made
      assert.match(stdout, /All 16384 slots covered/)
      await answers('set key value', 'OK')
      await until('three masters have a replica each', async () => {
        const nodes = (await cli('cluster nodes')).split('\n')
        const followed = nodes.map((line) => / slave (\w+) /.exec(line)?.[1])
        return nodes.length === 6 && new Set(followed.filter(Boolean)).size === 3
      })

      await Promise.all(before.map(end))
      const after = startServers()
      const { stdout: checked } = await untilDone(check)
      assert.match(checked, /All 16384 slots covered/)
      assert.doesNotMatch(checked, /Adding replica/)
      await answers('get key', 'value')
      await Promise.all(after.map(end))

      function startServers(): OwnProcess[] {
        return Array.from({ length: 6 }, (_, n) => {
          const data = join(folder, `${net}.${n}`)
          mkdirSync(data, { recursive: true })
          assert.ok(server.includes('--dir /data '))
          const line = server.replace('--dir /data ', `--dir ${data} `)
          const own = { ADDRESS: `${net}.${11 + n}`, HOSTNAME: `valkey-${n}` }
          return ownProcess(['sh', '-c', line], { cwd: data, env: { ...env, ...own } })
        })
      }
    })
  })
}

async function end({ child, ended }: OwnProcess): Promise<void> {
  child.kill('SIGKILL')
  await ended()
}

function composeCommands(net: string) {
  const file = 'deploy/replicas/compose.yaml'
  const [compose = assert.fail()] = parseYaml<Compose>(readText(file))
  const local = (command = '') => command.replaceAll('$$', '$').replaceAll('10.89.0.', `${net}.`)
  const server = local(compose['x-valkey'].command.at(-1))
  const create = local(compose.services.cluster.command.at(-1))
  return { file, net, server, create, check: create } // each start runs the command
}

function kubernetesCommands(net: string) {
  const file = 'deploy/valkey.yaml'
  const workloads = parseYaml<Workload>(readText(file))
  const servers = workloads.find(({ kind }) => kind === 'StatefulSet')?.spec.template.spec
  const server = servers?.containers[0]?.command.at(-1) ?? assert.fail('no command')
  const [, lines = ''] = /kubectl exec valkey-0 -- sh -c '(.*?)'/s.exec(readText(file)) ?? []
  const create = lines.replaceAll('\n#', '\n')
  return { file, net, server, create, check: `valkey-cli --cluster check ${net}.11:6379` }
}

/** Writes scripts that run Redis programs under the names of the Valkey image's programs. */
function programs(net: string, port: number, busPort: number): string {
  const bin = join(folder, `${net}-bin`)
  mkdirSync(bin)
  const at = '--bind "$ADDRESS" --bind-source-addr "$ADDRESS"'
  const lines = {
    'valkey-cli': `case "$1" in --cluster) exec redis-cli "$@" ;; *) exec redis-cli -p ${port} "$@" ;; esac`,
    'docker-entrypoint.sh': 'exec "$@"',
    'valkey-server': `exec redis-server ${at} --port ${port} --cluster-port ${busPort} "$@"`,
    getent: `n=\${2##*-}; echo "${net}.$((11 + n))   $2.default.svc.cluster.local"`,
  }
  for (const [name, line] of Object.entries(lines)) {
    writeFileSync(join(bin, name), `#!/bin/sh\n${line}\n`, { mode: 0o755 })
  }
  return bin
}
