/** Runs the commands in the guides about Redis, with several processes, a backup and a sentinel. */

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Service } from '../../conformance/client.js'
import { itemsOf } from '../../conformance/expect.js'
import { healthyAt } from '../../support/own-service.js'
import { freePort, ownProcess, until } from '../../support/process.js'
import { runInShell, snippetsOf, startInShell } from '../../support/snippets.js'
import { emptyFolder, programTest, root } from '../../support/tools.js'

const secret = 'a secret of at least thirty-two bytes'

const textsIn = (file: string, language: string) =>
  snippetsOf(file).flatMap((snippet) => (snippet.language === language ? snippet.text : []))

const guide = 'docs/how-to/redis.md'
const sh = textsIn(guide, 'sh')
const [server = '', rights = '', start = '', check = '', backUp = '', restore = '', append = ''] =
  sh
const [conf = '', users = '', startWithSentinels = ''] = textsIn(guide, '')
const [several = ''] = textsIn('docs/how-to/processes.md', 'sh')

function onPorts(text: string, redis: number, port = 0): string {
  return text
    .replace('redis-server --requirepass', `redis-server --port ${redis} --requirepass`)
    .replaceAll('redis-cli ', `redis-cli -p ${redis} `)
    .replaceAll('6379', String(redis))
    .replaceAll('localhost:8000', `127.0.0.1:${port}`)
    .replace(/\$\(openssl.*\)/, secret)
}

async function serve(text: string, port: number): Promise<Service> {
  startInShell(text, { cwd: root, env: { PORT: String(port), JWT_SECRET: secret } })
  return await healthyAt(port, secret)
}

programTest('redis-server', `${guide}: the commands run, and items are restored`, async () => {
  const cwd = emptyFolder()
  const place = { cwd, env: { REDISCLI_AUTH: 'password' } }
  const ready = /eady to accept connections/
  const [redis, port] = [await freePort(), await freePort()]
  await startInShell(onPorts(server, redis), { cwd }).printed(ready)
  await runInShell([onPorts(rights, redis)], place)
  const service = await serve(onPorts(start, redis), port)
  const [health] = await runInShell([onPorts(check, redis, port)], place)
  assert.match(health ?? '', /^HTTP\/1\.1 200 OK/)
  await service.call('POST', '/items', { data: { kept: true } })

  const ports = [await freePort(), await freePort()] as const
  const text = several.replace('8001', `${ports[0]}`).replace('8002', `${ports[1]}`)
  await serve(onPorts(text, redis), ports[0])
  for (const port of ports) {
    const one = await healthyAt(port, secret)
    assert.equal(itemsOf(await one.call('GET', '/items')).length, 1)
  }

  await runInShell([onPorts(users, redis)], place)
  const sentinel = await freePort()
  const lines = conf.replace('10.0.0.1 6379', `127.0.0.1 ${redis}`)
  writeFileSync(join(cwd, 'sentinel.conf'), `port ${sentinel}\n${lines}`)
  ownProcess(['redis-server', 'sentinel.conf', '--sentinel'], { cwd, env: process.env })
  const address = `127.0.0.1:${sentinel}`
  await serve(startWithSentinels.replace('10.0.0.1,10.0.0.2,10.0.0.3', address), await freePort())
  // Checks that the sentinel's user may send INFO: otherwise, the sentinel wouldn't learn the server's run id.
  await until('the sentinel knows the server', async () => {
    const [state = ''] = await runInShell([`redis-cli -p ${sentinel} sentinel master main`], {
      cwd,
    })
    return /^runid\n[0-9a-f]{40}$/m.test(state)
  })

  await runInShell([onPorts(backUp, redis)], place)
  const second = await freePort()
  await startInShell(onPorts(restore, second), place).printed(ready)
  await runInShell([onPorts(append, second)], { cwd }) // without a password
  const withoutUser = onPorts(start, second).replace('items:secret@', '')
  const restored = await serve(withoutUser, await freePort())
  const [item] = itemsOf(await restored.call('GET', '/items'))
  assert.equal(item?.kept, true)
})
