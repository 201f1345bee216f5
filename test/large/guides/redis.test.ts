/** Tests the commands in the guides about Redis, including a backup. */

import assert from 'node:assert/strict'
import { serviceAt } from '../../conformance/client.js'
import { itemsOf } from '../../conformance/expect.js'
import { freePort } from '../../support/process.js'
import { programTest } from '../../support/program-test.js'
import { runInShell, type Snippet, snippetsOf, startInShell } from '../../support/snippets.js'
import { emptyFolder } from '../../support/tarball.js'
import { root } from '../../support/tools.js'
import { until } from '../../support/until.js'

const commandsOf = (file: string) => snippetsOf(file).filter(({ language }) => language === 'sh')

function onPorts(snippet: Snippet, { redis, port }: { redis: number; port: number }): Snippet {
  const text = snippet.text
    .replace('redis-server --requirepass', `redis-server --port ${redis} --requirepass`)
    .replaceAll('redis-cli ', `redis-cli -p ${redis} `)
    .replaceAll('6379', String(redis))
    .replaceAll('localhost:8000', `127.0.0.1:${port}`)
  return { ...snippet, text }
}

async function serve(snippet: Snippet, ports: { redis: number; port: number }, secret: string) {
  const text = onPorts(snippet, ports).text.replace(/\$\(openssl.*\)/, secret)
  assert.ok(text.includes(secret), `${snippet.place} sets no secret`)
  const env = { PORT: String(ports.port) }
  const own = startInShell({ ...snippet, text }, { cwd: root, env })
  await own.printed(/listening on/)
  return await healthyAt(ports.port, secret)
}

async function healthyAt(port: number, secret: string) {
  const service = serviceAt(new URL(`http://127.0.0.1:${port}/api/v1`), secret)
  await until('the service is healthy', async () => {
    const health = await service.request('GET', '/health').catch(() => undefined) // fails until the service listens
    return health?.status === 200 ? true : undefined
  })
  return service
}

programTest(
  'redis-server',
  'docs/how-to/redis.md, processes.md: the commands run, and the items are restored',
  async () => {
    const commands = commandsOf('docs/how-to/redis.md')
    const [server, start, check, backUp, restore, append] = commands
    const [several] = commandsOf('docs/how-to/processes.md')
    assert.ok(server !== undefined && start !== undefined && check !== undefined)
    assert.ok(several !== undefined && backUp !== undefined)
    assert.ok(restore !== undefined && append !== undefined)
    const secret = 'a secret of at least thirty-two bytes'
    const cwd = emptyFolder()
    const place = { cwd, env: { REDISCLI_AUTH: 'password' } }
    const ready = /eady to accept connections/

    const first = { redis: await freePort(), port: await freePort() }
    await startInShell(onPorts(server, first), { cwd }).printed(ready)
    const service = await serve(start, first, secret)
    const [health] = await runInShell([onPorts(check, first)], place)
    assert.match(health ?? '', /^HTTP\/1\.1 200 OK/)
    await service.call('POST', '/items', { data: { kept: true } })

    const ports = [await freePort(), await freePort()] as const
    const text = several.text.replace('8001', `${ports[0]}`).replace('8002', `${ports[1]}`)
    await serve({ ...several, text }, { ...first, port: ports[0] }, secret)
    for (const port of ports) {
      const one = await healthyAt(port, secret)
      assert.equal(itemsOf(await one.call('GET', '/items')).length, 1)
    }

    await runInShell([onPorts(backUp, first)], place)
    const second = { redis: await freePort(), port: await freePort() }
    await startInShell(onPorts(restore, second), place).printed(ready)
    const withoutPassword = { cwd }
    await runInShell([onPorts(append, second)], withoutPassword)
    const restored = await serve(
      { ...start, text: start.text.replace(':password@', '') },
      second,
      secret,
    )
    const [item] = itemsOf(await restored.call('GET', '/items'))
    assert.equal(item?.kept, true)
  },
)
