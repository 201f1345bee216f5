/** Tests that accepted requests get their responses during a shutdown. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { ownService, ownTest } from '../../support/own-service.js'
import { until } from '../../support/process.js'
import { firstText, headOf, openSocket, slowly } from '../../support/socket.js'

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

ownTest('npm start ends with the service: accepted requests succeed, exit code 0', async () => {
  const own = await ownService({ PATH: process.env.PATH }, ['npm', 'start', '--silent', '--'])
  const body = '{"data":{}}'
  const head = headOf(own, 'POST', '/items', `Content-Length: ${body.length}`)
  const socket = openSocket(own.baseUrl, head)
  await own.request('GET', '/health') // connections are accepted in order
  own.child.kill('SIGTERM')
  await until('no new connections', () =>
    once(openSocket(own.baseUrl), 'connect').then(
      () => false,
      () => true,
    ),
  )
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
