/** How the service ends while a client is connected. What a busy machine would break is in test/large/reliability. */

import assert from 'node:assert/strict'
import { ownService, ownTest } from '../support/own-service.js'
import { headOf, openSocket } from '../support/socket.js'

ownTest('a half-sent body delays the shutdown no longer than SHUTDOWN_TIMEOUT', async () => {
  const own = await ownService({ SHUTDOWN_TIMEOUT: '1' })
  openSocket(own.baseUrl, `${headOf(own, 'POST', '/items', 'Content-Length: 9')}{"data`)
  await own.request('GET', '/health') // connections are accepted in turn
  own.child.kill('SIGTERM')
  assert.deepEqual(await own.ended(), [0, null])
})
