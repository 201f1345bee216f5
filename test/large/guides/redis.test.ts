/** Tests the commands in the guides about Redis, including a backup. */

import assert from 'node:assert/strict'
import type { Service } from '../../conformance/client.js'
import { itemsOf } from '../../conformance/expect.js'
import { healthyAt } from '../../support/own-service.js'
import { freePort } from '../../support/process.js'
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
    const [server, start, check, backUp, restore, append] = commandsOf('docs/how-to/redis.md')
    const [several] = commandsOf('docs/how-to/processes.md')
    assert.ok(server && start && check && several && backUp && restore && append)
    const cwd = emptyFolder()
    const place = { cwd, env: { REDISCLI_AUTH: 'password' } }
    const ready = /eady to accept connections/

    const first = { redis: await freePort(), port: await freePort() }
    await startInShell(onPorts(server, first), { cwd }).printed(ready)
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
    const startRestored = { ...start, text: start.text.replace(':password@', '') }
    const restored = await serve(startRestored, second)
    const [item] = itemsOf(await restored.call('GET', '/items'))
    assert.equal(item?.kept, true)
  },
)
