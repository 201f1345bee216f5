/** How the service ends while clients are connected. What takes long is in test/large/reliability/shutdown.test.ts. */

import assert from 'node:assert/strict'
import { busyClients } from '../support/kept-client.js'
import { ownService, ownTest } from '../support/own-service.js'
import { headOf, openSocket } from '../support/socket.js'

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  ownTest(`${signal} under 20 busy connections: none cut short, exit code 0`, async () => {
    const own = await ownService()
    const clients = busyClients(own, 20)
    await clients.untilBusy()
    own.child.kill(signal)
    const exit = await own.ended() // first, as the clients go on for as long as it does
    for (const { broken } of await clients.ended()) assert.deepEqual(broken, [])
    assert.deepEqual(exit, [0, null])
  })
}

ownTest('a half-sent body delays the shutdown no longer than SHUTDOWN_TIMEOUT', async () => {
  const own = await ownService({ SHUTDOWN_TIMEOUT: '1' })
  openSocket(own.baseUrl, `${headOf(own, 'POST', '/items', 'Content-Length: 9')}{"data`)
  await own.request('GET', '/health') // connections are accepted in turn
  own.child.kill('SIGTERM')
  assert.deepEqual(await own.ended(), [0, null])
})
