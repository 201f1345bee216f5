/** Tests that accepted requests get their responses during a shutdown. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { busyClients } from '../../support/kept-client.js'
import type { Command } from '../../support/own-process.js'
import { type OwnService, ownService, ownTest, withLimits } from '../../support/own-service.js'
import { firstText, headOf, openSocket, slowly, writePieces } from '../../support/socket.js'
import { until } from '../../support/until.js'

const ask = 'GET /api/v1/health HTTP/1.1\r\nHost: a\r\n\r\n'

/** Waits until all earlier connections are accepted. Connections are accepted in order. */
async function accepted({ request }: OwnService): Promise<void> {
  await request('GET', '/health')
}

async function tellToEnd({ child, baseUrl }: OwnService): Promise<void> {
  child.kill('SIGTERM')
  await until('no new connections', () =>
    once(openSocket(baseUrl), 'connect').then(
      () => false,
      () => true,
    ),
  )
}

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  ownTest(`${signal} with 20 busy connections: each create is answered, exit code 0`, async () => {
    const own = await ownService({}, withLimits({}))
    const clients = busyClients(own, 20)
    await clients.untilBusy()
    own.child.kill(signal)
    const exit = await own.ended() // awaited first, because the clients continue until the service ends
    const all = await clients.ended()
    // On a busy machine, a client may send a request after its connection was closed.
    const broken = all.flatMap(({ broken }) => broken).filter((reason) => reason !== 'ECONNRESET')
    assert.deepEqual(broken, [])
    assert.equal(
      own.log.find(({ msg }) => msg === 'closing the store')?.items,
      all.reduce((sum, { ids }) => sum + ids.length, 0),
    )
    assert.deepEqual(exit, [0, null])
  })
}

ownTest('SIGTERM while a slow client reads a list: the client gets the whole list', async () => {
  const own = await ownService({ SHUTDOWN_TIMEOUT: '60' })
  const pad = 'x'.repeat(15_000_000)
  await own.call('POST', '/items', { data: { pad } })
  const socket = openSocket(own.baseUrl, headOf(own, 'GET', '/items'))
  let bytes = 0
  let head = ''
  for await (const chunk of slowly(socket)) {
    if (bytes === 0) {
      own.child.kill('SIGTERM')
      head = String(chunk)
    }
    bytes += chunk.length
  }
  const [whole = '', length] = /^.*?\r\nContent-Length: (\d+)\r\n.*?\r\n\r\n/s.exec(head) ?? []
  assert.equal(bytes, whole.length + Number(length))
  assert.deepEqual(await own.ended(), [0, null])
})

ownTest(
  'SIGTERM while the body of a request with a rejected token is sent: the response is not lost',
  async () => {
    const own = await ownService()
    const socket = openSocket(own.baseUrl)
    await accepted(own)
    await tellToEnd(own)
    const closed = once(socket, 'close') // rejects if the connection is reset
    const piece = 'x'.repeat(1_000_000)
    socket.write('POST /api/v1/items HTTP/1.1\r\nHost: a\r\nContent-Length: 20000000\r\n\r\n')
    assert.match(await firstText(socket), /^HTTP\/1\.1 401 Unauthorized\r\n/)
    await writePieces(
      socket,
      Array.from({ length: 20 }, () => piece),
    )
    await closed
    assert.deepEqual(await own.ended(), [0, null])
  },
)

ownTest(
  'an idle connection does not delay a shutdown, and a request on it still gets a response',
  async () => {
    const own = await ownService()
    const [, late] = [openSocket(own.baseUrl), openSocket(own.baseUrl)]
    await accepted(own)
    await tellToEnd(own)
    late.write(ask)
    const answer = await firstText(late)
    assert.match(answer, /^HTTP\/1\.1 200 OK\r\n/)
    assert.match(answer, /\r\nConnection: close\r\n/)
    assert.deepEqual(await own.ended(), [0, null])
  },
)

ownTest('npm start ends with the service: accepted requests succeed, exit code 0', async () => {
  const { PATH } = process.env
  const command: Command = ['npm', 'start', '--silent', '--']
  const own = await ownService({ PATH }, command)
  const body = '{"data":{}}'
  const head = headOf(own, 'POST', '/items', `Content-Length: ${body.length}`)
  const socket = openSocket(own.baseUrl, head)
  await accepted(own)
  await tellToEnd(own)
  await delay(1000)
  assert.equal(own.child.exitCode ?? own.child.signalCode, null)
  socket.write(body)
  assert.match(await firstText(socket), /^HTTP\/1\.1 201 Created\r\n/)
  assert.deepEqual(await own.ended(), [0, null])
})

ownTest('a shutdown is not delayed when the reader of the log has disconnected', async () => {
  const { child, ended } = await ownService()
  child.stdout.destroy()
  await delay(50)
  child.kill('SIGTERM')
  assert.deepEqual(await ended(), [0, null])
})
