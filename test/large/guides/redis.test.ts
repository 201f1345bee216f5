/** Tests the commands in the guides about Redis, including a backup. */

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Service } from '../../conformance/client.js'
import { itemsOf } from '../../conformance/expect.js'
import { healthyAt } from '../../support/own-service.js'
import { freePort, ownProcess, until } from '../../support/process.js'
import { runInShell, type Snippet, snippetsOf, startInShell } from '../../support/snippets.js'
import { emptyFolder, programTest, root } from '../../support/tools.js'

interface Ports {
  readonly redis: number
  readonly port: number
}

const secret = 'a secret of at least thirty-two bytes'

const commandsOf = (file: string) => snippetsOf(file).filter(({ language }) => language === 'sh')

function onPorts(snippet: Snippet, { redis, port }: Ports): Snippet {
  const text = snippet.text
    .replace('redis-server --requirepass', `redis-server --port ${redis} --requirepass`)
    .replaceAll('redis-cli ', `redis-cli -p ${redis} `)
    .replaceAll('6379', String(redis))
    .replaceAll('localhost:8000', `127.0.0.1:${port}`)
  return { ...snippet, text }
}

async function serve(snippet: Snippet, ports: Ports): Promise<Service> {
  const text = onPorts(snippet, ports).text.replace(/\$\(openssl.*\)/, secret)
  assert.ok(text.includes(secret), `${snippet.place} sets no secret`)
  startInShell({ ...snippet, text }, { cwd: root, env: { PORT: String(ports.port) } })
  return await healthyAt(ports.port, secret)
}

programTest(
  'redis-server',
  'docs/how-to/redis.md, processes.md: the commands run, and the items are restored',
  async () => {
    const [server, rights, start, check, backUp, restore, append] =
      commandsOf('docs/how-to/redis.md')
    const [several] = commandsOf('docs/how-to/processes.md')
    assert.ok(server && rights && start && check && several && backUp && restore && append)
    const cwd = emptyFolder()
    const place = { cwd, env: { REDISCLI_AUTH: 'password' } }
    const ready = /eady to accept connections/

    const first = { redis: await freePort(), port: await freePort() }
    await startInShell(onPorts(server, first), { cwd }).printed(ready)
    await runInShell([onPorts(rights, first)], place)
    const service = await serve(start, first)
    const [health] = await runInShell([onPorts(check, first)], place)
    assert.match(health ?? '', /^HTTP\/1\.1 200 OK/)
    await service.call('POST', '/items', { data: { kept: true } })

    const ports = [await freePort(), await freePort()] as const
    const text = several.text.replace('8001', `${ports[0]}`).replace('8002', `${ports[1]}`)
    await serve({ ...several, text }, { ...first, port: ports[0] })
    for (const port of ports) {
      const one = await healthyAt(port, secret)
      assert.equal(itemsOf(await one.call('GET', '/items')).length, 1)
    }

    await runInShell([onPorts(backUp, first)], place)
    const second = { redis: await freePort(), port: await freePort() }
    await startInShell(onPorts(restore, second), place).printed(ready)
    const withoutPassword = { cwd }
    await runInShell([onPorts(append, second)], withoutPassword)
    const startRestored = { ...start, text: start.text.replace('items:secret@', '') }
    const restored = await serve(startRestored, second)
    const [item] = itemsOf(await restored.call('GET', '/items'))
    assert.equal(item?.kept, true)
  },
)

programTest(
  'redis-server',
  'docs/how-to/redis.md: with this configuration and user, a sentinel reads the server, and the service finds it',
  async () => {
    const [conf, users, start] = snippetsOf('docs/how-to/redis.md').filter(
      ({ language }) => language === '',
    )
    const [server, rights] = commandsOf('docs/how-to/redis.md')
    assert.ok(conf && users && start && server && rights)
    const cwd = emptyFolder()
    const ports = { redis: await freePort(), port: await freePort() }
    await startInShell(onPorts(server, ports), { cwd }).printed(/eady to accept connections/)
    const place = { cwd, env: { REDISCLI_AUTH: 'password' } }
    const commands = [rights, users].map((each) => onPorts(each, ports))
    await runInShell(commands, place)
    const port = await freePort()
    const lines = conf.text.replace('10.0.0.1 6379', `127.0.0.1 ${ports.redis}`)
    writeFileSync(join(cwd, 'sentinel.conf'), `port ${port}\n${lines}`)
    ownProcess(['redis-server', 'sentinel.conf', '--sentinel'], { cwd, env: process.env })
    const text = start.text.replace('10.0.0.1,10.0.0.2,10.0.0.3', `127.0.0.1:${port}`)
    const env = { PORT: String(ports.port), JWT_SECRET: secret }
    startInShell({ ...start, text }, { cwd: root, env })
    await healthyAt(ports.port, secret)
    // Checks that the sentinel's user may send INFO: otherwise, the sentinel wouldn't learn the server's run id.
    const ask = { ...conf, text: `redis-cli -p ${port} sentinel master main` }
    await until('the sentinel knows the server', async () => {
      const [state = ''] = await runInShell([ask], { cwd })
      return /^runid\n[0-9a-f]{40}$/m.test(state)
    })
  },
)
