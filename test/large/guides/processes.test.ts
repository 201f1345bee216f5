/** Tests two processes behind nginx: they restart in turn under load, as in docs/how-to/processes.md, and one stops. */

import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { Agent } from 'node:http'
import { join } from 'node:path'
import { after } from 'node:test'
import { create } from '../../conformance/expect.js'
import { keptClient } from '../../support/kept-client.js'
import { configureNginx, startNginx, withoutTls } from '../../support/nginx.js'
import { healthyAt } from '../../support/own-service.js'
import { freePort, ownProcess } from '../../support/process.js'
import { describeWithRedis, startedRedis } from '../../support/redis.js'
import { putCommand, runInShell, type Snippet, snippetsOf } from '../../support/snippets.js'
import { cleanEnvironment, emptyFolder, programTest, readText } from '../../support/tools.js'

const secret = 'a secret of at least thirty-two bytes'
const clients = 4
const rounds = 2

/** Restarts the service whenever it ends, as systemd does. */
const supervisor = `
trap 'kill $!; exit' TERM
while :; do PORT="$2" item-store serve --host 127.0.0.1 & echo $! > "instance$1.pid"; wait $!; done`

/** Replaces `systemctl`, because systemd does not run in containers. */
const systemctl = `#!/bin/sh
test "$1" = restart || exit 1
pid=$(cat "instance\${2#item-store@}.pid")
kill "$pid"
while kill -0 "$pid" 2> /dev/null; do sleep 0.05; done
`

describeWithRedis('docs/how-to/processes.md', () => {
  programTest('nginx', 'while one process restarts or is gone, the other serves', async (nginx) => {
    const snippets = snippetsOf('docs/how-to/processes.md')
    const upstream = snippets.find(({ language }) => language === 'nginx')
    const restart = snippets.findLast(({ language }) => language === 'sh')
    assert.ok(upstream !== undefined && restart !== undefined)
    const prefix = await freePrefix()
    const here = ({ text }: Snippet) => text.replaceAll('800', prefix)
    const port = await freePort()
    const file = 'deploy/nginx.conf'
    const [old = ''] = /^upstream .*?^}\n/ms.exec(readText(file)) ?? []
    const changes = [[old, here(upstream)] as const, ...(await withoutTls(port))]
    startNginx(nginx, configureNginx(file, changes, 'error_log stderr crit;'))

    const cwd = emptyFolder()
    const bin = join(cwd, 'node_modules/.bin')
    putCommand(bin)
    writeFileSync(join(bin, 'systemctl'), systemctl, { mode: 0o755 })
    const PATH = `${bin}:${process.env.PATH}`
    const variables = { JWT_SECRET: secret, STORE_URL: (await startedRedis()).url, PATH }
    const env = { ...cleanEnvironment(), ...variables }
    const supervise = (number: string) =>
      ownProcess(['bash', '-c', supervisor, 'bash', number, prefix + number], { cwd, env })
    const [first] = [supervise('1'), supervise('2')]
    for (const number of ['1', '2']) await healthyAt(Number(prefix + number), secret)
    const service = await healthyAt(port, secret)
    const agent = new Agent({ keepAlive: true, maxSockets: clients })
    after(() => agent.destroy())
    const call = keptClient(service, agent)
    const statuses: number[] = []
    let isOver = false
    const work = Array.from({ length: clients }, async () => {
      while (!isOver) statuses.push((await call('POST', '/items', '{"data":{}}')).status)
    })
    const pids = () => ['1', '2'].map((number) => readFileSync(join(cwd, `instance${number}.pid`)))
    const before = pids()
    for (let round = 0; round < rounds; round += 1) {
      await runInShell([here(restart)], { cwd, env: { PATH } })
    }
    isOver = true
    await Promise.all(work)
    assert.notDeepEqual(pids(), before)
    // A few may fail: nginx may send a request on a connection that a stopping process is closing.
    const failed = statuses.filter((status) => status !== 201).length
    const message = `${failed} of ${statuses.length} requests failed`
    assert.ok(failed <= 2 * rounds * clients && failed < statuses.length / 4, message)

    const replicas = await freePort()
    const servers = `server 127.0.0.1:${prefix}1; server 127.0.0.1:${prefix}2;`
    const local = [
      ['listen 80;', `listen 127.0.0.1:${replicas};`],
      ['server item-store:8000;', servers],
    ] as const
    startNginx(nginx, configureNginx('deploy/replicas/nginx.conf', local))
    const shared = await healthyAt(replicas, secret)
    first.child.kill('SIGTERM')
    await first.ended()
    for (let n = 0; n < 4; n += 1) {
      const { id } = await create(shared, {})
      assert.equal((await service.call('GET', `/items/${id}`)).status, 200)
    }
  })
})

/** Returns digits that become a free port number when 1 or 2 is appended. */
async function freePrefix(): Promise<string> {
  for (;;) {
    const first = await freePort()
    if (first % 10 === 1 && (await freePort()) === first + 1) return String(first).slice(0, -1)
  }
}
