/** Tests that accepted requests get their responses during a shutdown. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { type OwnService, ownService, ownTest } from '../../support/own-service.js'
import { until } from '../../support/process.js'
import { firstText, headOf, openSocket, slowly, writePieces } from '../../support/socket.js'

/** Sends SIGTERM once all earlier connections are accepted, and waits until new connections are refused. */
async function tellToEnd({ request, child, baseUrl }: OwnService): Promise<void> {
  await request('GET', '/health') // connections are accepted in order
  child.kill('SIGTERM')
  await until('no new connections', () =>
    once(openSocket(baseUrl), 'connect').then(
      () => false,
      () => true,
    ),
  )
}

ownTest('SIGTERM while a slow client reads a list: the client gets the whole list', async () => {
  const own = await ownService({ SHUTDOWN_TIMEOUT: '60' })
  const pad = 'x'.repeat(15_000_000)
  await own.call('POST', '/items', { data: { pad } })
  let text = ''
  for await (const chunk of slowly(openSocket(own.baseUrl, headOf(own, 'GET', '/items')))) {
    if (text === '') own.child.kill('SIGTERM')
    text += chunk
  }
  assert.ok(text.endsWith(`"pad":"${pad}"}]}`))
  assert.deepEqual(await own.ended(), [0, null])
})

ownTest('SIGTERM during the body of a request with an invalid token: it gets a 401', async () => {
  const own = await ownService()
  const socket = openSocket(own.baseUrl, '', { allowHalfOpen: true })
  await tellToEnd(own)
  const closed = once(socket, 'close') // rejects if the connection is reset
  socket.write('POST /api/v1/items HTTP/1.1\r\nHost: a\r\nContent-Length: 20000000\r\n\r\n')
  assert.match(await firstText(socket), /^HTTP\/1\.1 401 Unauthorized\r\n/)
  await writePieces(socket, Array(20).fill('x'.repeat(1_000_000)))
  socket.end()
  await closed
  assert.deepEqual(await own.ended(), [0, null])
})

ownTest('npm start ends with the service: accepted requests succeed, exit code 0', async () => {
  const own = await ownService({ PATH: process.env.PATH }, ['npm', 'start', '--silent', '--'])
  const body = '{"data":{}}'
  const head = headOf(own, 'POST', '/items', `Content-Length: ${body.length}`)
  const socket = openSocket(own.baseUrl, head)
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
