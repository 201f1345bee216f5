/** Clients that read nothing of a response are disconnected, but only after the timeout. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { after, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { Connections } from './connections.js'

const answer = Buffer.alloc(50_000_000) // more than the system takes at once

async function bytesRead(timeout: number, wait: number): Promise<number> {
  const server = createServer((_request, response) => response.end(answer))
  const endChecks = new Connections(server, 1, 100).closeOverdue({
    idleTimeout: timeout,
    keepAliveTimeout: timeout,
  })
  after(() => {
    endChecks()
    server.close()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo // of TCP
  const socket = connect(port, '127.0.0.1')
  socket.pause().write('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
  await delay(wait)
  let bytes = 0
  for await (const chunk of socket) bytes += chunk.length
  return bytes
}

test('a new connection has all of the timeout for what is sent first', async () => {
  assert.ok((await bytesRead(8_000, 3_000)) > answer.length)
})

test('a connection on which nothing got further for the timeout is closed', async () => {
  assert.ok((await bytesRead(1_000, 2_000)) < answer.length)
})
