/** How the service ends: what was accepted is answered, whatever clients do. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { cli, type OwnService, startService } from '../conformance/service.js'

interface Running extends OwnService {
  readonly port: number
  readonly exit: Promise<unknown[]>
}

async function start(...args: Parameters<typeof startService>): Promise<Running> {
  const own = await startService(...args)
  return { ...own, port: Number(own.baseUrl.port), exit: once(own.child, 'exit') }
}

/** Sends requests over one kept connection, until the service refuses a new one. */
async function keepBusy(
  { port, validToken }: Running,
  agent: Agent,
): Promise<{ answered: number; broken: string[] }> {
  const headers = { authorization: `Bearer ${validToken()}`, 'content-type': 'application/json' }
  const outcome = { answered: 0, broken: [] as string[] }
  for (;;) {
    const result = await new Promise<string>((resolve) => {
      const body = '{"data":{"a":1}}'
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
    const own = await start()
    const agents = Array.from({ length: 20 }, () => new Agent({ keepAlive: true, maxSockets: 1 }))
    const clients = agents.map((agent) => keepBusy(own, agent))
    await delay(500)
    own.child.kill(signal)
    const outcomes = await Promise.all(clients)
    for (const { answered, broken } of outcomes) {
      assert.deepEqual(broken, [])
      assert.ok(answered > 0)
    }
    assert.deepEqual(await own.exit, [0, null])
  })
}

test('SIGTERM while a slow client reads a list: it gets all of it', async () => {
  const own = await start({ SHUTDOWN_TIMEOUT: '60' })
  const pad = 'x'.repeat(15_000_000)
  await own.call('POST', '/items', { data: { pad } })
  const socket = connect(own.port, '127.0.0.1')
  const authorization = `Authorization: Bearer ${own.validToken()}`
  socket.write(`GET /api/v1/items HTTP/1.1\r\nHost: a\r\n${authorization}\r\n\r\n`)
  let bytes = 0
  let head = ''
  for await (const chunk of socket) {
    if (bytes === 0) {
      own.child.kill('SIGTERM')
      head = String(chunk)
    }
    bytes += chunk.length
    await delay(chunk.length / 8_000) // 8 MB in a second
  }
  const [whole = '', length] = /^.*?\r\nContent-Length: (\d+)\r\n.*?\r\n\r\n/s.exec(head) ?? []
  assert.equal(bytes, whole.length + Number(length))
  assert.deepEqual(await own.exit, [0, null])
})

test('SIGTERM while requests wait behind a list on their connection: all are answered', async () => {
  const own = await start({ SHUTDOWN_TIMEOUT: '60' })
  await own.call('POST', '/items', { data: { pad: 'x'.repeat(15_000_000) } })
  const socket = connect(own.port, '127.0.0.1')
  const rest = `HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${own.validToken()}\r\n`
  const post = `POST /api/v1/items ${rest}Content-Length: 11\r\n\r\n{"data":{}}`
  socket.pause().write(`GET /api/v1/items ${rest}\r\n${post.repeat(50)}`)
  await delay(300)
  own.child.kill('SIGTERM')
  await delay(300)
  const chunks: Buffer[] = []
  for await (const chunk of socket) chunks.push(chunk)
  const text = Buffer.concat(chunks).toString('latin1')
  assert.equal(text.match(/HTTP\/1\.1 201 Created\r\n/g)?.length, 50)
  assert.equal(text.match(/\r\nConnection: close\r\n/g)?.length, 1)
  assert.deepEqual(await own.exit, [0, null])
})

test('SIGTERM while a body is sent whose token is refused: the answer is not reset', async () => {
  const { child, port, exit } = await start()
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  await delay(100)
  child.kill('SIGTERM')
  await delay(50)
  const closed = once(socket, 'close') // fails where it is reset
  const piece = 'x'.repeat(1_000_000)
  socket.write('POST /api/v1/items HTTP/1.1\r\nHost: a\r\nContent-Length: 20000000\r\n\r\n')
  const [answer] = await once(socket, 'data')
  assert.match(String(answer), /^HTTP\/1\.1 401 Unauthorized\r\n/)
  for (let sent = 0; sent < 20; sent += 1) {
    await new Promise<void>((resolve, reject) => {
      socket.write(piece, (error) => (error ? reject(error) : resolve()))
    })
    await delay(10)
  }
  await closed
  assert.deepEqual(await exit, [0, null])
})

test('a half-sent body holds the end no longer than SHUTDOWN_TIMEOUT', async () => {
  const { child, port, exit, validToken } = await start({ SHUTDOWN_TIMEOUT: '1' })
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => undefined)
  socket.write(
    `POST /api/v1/items HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${validToken()}\r\nContent-Length: 9\r\n\r\n{"data`,
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

test('npm start ends with the service: what was accepted is answered, exit code 0', async () => {
  const { PATH } = process.env
  const command: [string, ...string[]] = ['npm', 'start', '--silent', '--']
  const { child, port, exit, validToken } = await start({ PATH }, command)
  const body = '{"data":{}}'
  const socket = connect(port, '127.0.0.1')
  socket.write(
    `POST /api/v1/items HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${validToken()}\r\nContent-Length: ${body.length}\r\n\r\n`,
  )
  await delay(200)
  child.kill('SIGTERM')
  await delay(1000)
  assert.equal(child.exitCode ?? child.signalCode, null)
  socket.write(body)
  const [answer] = await once(socket, 'data')
  assert.match(String(answer), /^HTTP\/1\.1 201 Created\r\n/)
  assert.deepEqual(await exit, [0, null])
})

test('Ctrl-C in a terminal, which npm passes on a second time, is one signal', async () => {
  const { child, port, exit } = await start()
  const idle = connect(port, '127.0.0.1') // keeps the service waiting for a request
  await once(idle, 'connect')
  await delay(100)
  child.kill('SIGINT')
  await delay(10)
  child.kill('SIGINT')
  assert.deepEqual(await exit, [0, null])
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
  const { exit, log } = await start({}, [
    process.execPath,
    '--input-type=module',
    '--eval',
    script,
    'cli',
  ])
  assert.deepEqual(await exit, [1, null])
  const last = log.find(({ level }) => level === 60)
  assert.match(JSON.stringify(last?.err), /"stack":"Error: a planted fault\\n/)
})
