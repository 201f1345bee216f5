/** How the service ends: what was accepted is answered, whatever clients do. */

import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { inSeconds, mintToken } from '../conformance/tokens.js'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const cli = fileURLToPath(new URL('../../src/cli.js', import.meta.url))
const secret = 'a secret of at least thirty-two bytes'
const authorization = `Bearer ${mintToken({ sub: 'a', exp: inSeconds(600) }, { secret })}`

interface Running {
  readonly child: ChildProcess
  readonly port: number
  readonly printed: () => string
  readonly exit: Promise<unknown[]>
}

async function start(
  variables: Record<string, string> = {},
  command = [process.execPath, cli, 'serve'],
): Promise<Running> {
  const [program = '', ...args] = command
  const child = spawn(program, [...args, '--port', '0', '--host', '127.0.0.1'], {
    cwd: root,
    env: { ...process.env, JWT_SECRET: secret, ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const exit = once(child, 'exit')
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      printed += String(chunk)
    })
  }
  while (!printed.includes('listening on')) await delay(10)
  const port = Number(/listening on http:\/\/127\.0\.0\.1:(\d+)/.exec(printed)?.[1])
  return { child, port, printed: () => printed, exit }
}

/** Sends requests over one kept connection, until the service refuses a new one. */
async function keepBusy(
  port: number,
  agent: Agent,
): Promise<{ answered: number; broken: string[] }> {
  const outcome = { answered: 0, broken: [] as string[] }
  for (;;) {
    const result = await new Promise<string>((resolve) => {
      const body = '{"data":{"a":1}}'
      const headers = { authorization, 'content-type': 'application/json' }
      const sent = request({ port, agent, method: 'POST', path: '/api/v1/items', headers })
      sent.on('response', (response) => {
        response.on('data', () => undefined)
        response.on('end', () => resolve(response.statusCode === 201 ? 'answered' : 'refused'))
        response.on('error', (error) => resolve(error.message))
      })
      sent.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
      sent.end(body)
    })
    if (result === 'ECONNREFUSED') return outcome
    if (result === 'answered') outcome.answered += 1
    else outcome.broken.push(result)
    if (outcome.broken.length > 0) return outcome
  }
}

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  test(`${signal} under 20 busy connections: none broken off, exit code 0`, async () => {
    const { child, port, exit } = await start()
    const agents = Array.from({ length: 20 }, () => new Agent({ keepAlive: true, maxSockets: 1 }))
    const clients = agents.map((agent) => keepBusy(port, agent))
    await delay(500)
    child.kill(signal)
    const outcomes = await Promise.all(clients)
    for (const { answered, broken } of outcomes) {
      assert.deepEqual(broken, [])
      assert.ok(answered > 0)
    }
    assert.deepEqual(await exit, [0, null])
  })
}

test('a half-sent body holds the end no longer than SHUTDOWN_TIMEOUT', async () => {
  const { child, port, exit } = await start({ SHUTDOWN_TIMEOUT: '1' })
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => undefined)
  socket.write(
    `POST /api/v1/items HTTP/1.1\r\nHost: a\r\nAuthorization: ${authorization}\r\nContent-Length: 9\r\n\r\n{"data`,
  )
  await delay(200)
  child.kill('SIGTERM')
  assert.deepEqual(await exit, [0, null])
  socket.destroy()
})

test('an idle connection does not hold the end, and a request on it is still answered', async () => {
  const { child, port, exit } = await start()
  const idle = connect(port, '127.0.0.1')
  const late = connect(port, '127.0.0.1')
  await Promise.all([once(idle, 'connect'), once(late, 'connect')])
  await delay(100)
  child.kill('SIGTERM')
  await delay(100)
  late.write('GET /api/v1/health HTTP/1.1\r\nHost: a\r\n\r\n')
  const [answer] = await once(late, 'data')
  assert.match(String(answer), /^HTTP\/1\.1 200 OK\r\n/)
  assert.match(String(answer), /\r\nConnection: close\r\n/)
  assert.deepEqual(await exit, [0, null])
})

test('a second signal ends the process at once', async () => {
  const { child, port, exit } = await start({ SHUTDOWN_TIMEOUT: '60' })
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => undefined)
  socket.write('POST /api/v1/items HTTP/1.1\r\nHost: a\r\nContent-Le')
  await delay(200)
  child.kill('SIGTERM')
  await delay(200)
  child.kill('SIGTERM')
  assert.deepEqual(await exit, [1, null])
})

test('npm start passes the signal on', async () => {
  const { child, exit, printed } = await start({}, ['npm', 'start', '--silent', '--'])
  child.kill('SIGTERM')
  await exit
  await delay(100)
  assert.match(printed(), /SIGTERM: stopping/)
})

test('a reader of the log that goes away does not hold the end', async () => {
  const { child, exit } = await start()
  child.stdout?.destroy()
  await delay(50)
  child.kill('SIGTERM')
  assert.deepEqual(await exit, [0, null])
})

test('a fault that nothing caught is logged with its stack, and ends the process with code 1', async () => {
  const script = `
    process.argv[1] = ${JSON.stringify(cli)}
    process.argv.splice(2, 0, 'serve')
    await import(${JSON.stringify(cli)})
    setTimeout(() => { throw new Error('a planted fault') }, 300)`
  const { exit, printed } = await start({}, [
    process.execPath,
    '--input-type=module',
    '--eval',
    script,
    'cli',
  ])
  assert.deepEqual(await exit, [1, null])
  assert.match(printed(), /"level":60,.*a planted fault.*"stack":"Error: a planted fault\\n/)
})
