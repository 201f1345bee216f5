/** Tests, without the service, that only slow clients are disconnected, and no response is lost. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { wholeText } from '../../test/support/socket.js'
import { createListener, type Listener } from './listener.js'

const large = Buffer.alloc(50_000_000) // more bytes than the system accepts in one write
const ask = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'
const lastAsk = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'

interface Opened {
  readonly listener: Listener
  readonly port: number
}

async function open(body: string | Buffer, timeout = 60): Promise<Opened> {
  const limits = {
    ...{ maxHeaderBytes: 16_384, maxHeaderLines: 128, maxConnections: 100 },
    ...{ maxPipelinedBytes: 10_000_000, requestTimeout: 60 },
    ...{ idleTimeout: timeout, keepAliveTimeout: timeout },
  }
  const listener = createListener(
    limits,
    () => ({ status: 400, headers: ['Content-Length', '7'], body: 'refused' }),
    (response, connection) => {
      if (connection.beginResponse()) response.end(body)
    },
  )
  const port = await listener.listen(0, '127.0.0.1')
  after(() => listener.stop(0))
  return { listener, port }
}

async function bytesRead(timeout: number, wait: number): Promise<number> {
  const { port } = await open(large, timeout)
  const socket = connect(port, '127.0.0.1')
  socket.pause().write(lastAsk)
  await delay(wait)
  return (await wholeText(socket)).length
}

test('a new connection has the whole idle timeout for its first response', async () => {
  // If a busy client needs longer than the timeout, the test is repeated with a longer timeout.
  const isWhole = async (timeout: number, wait: number) =>
    (await bytesRead(timeout, wait)) > large.length
  assert.ok((await isWhole(8, 3_000)) || (await isWhole(60, 20_000)))
})

test('a connection without progress for the whole timeout is closed', async () => {
  assert.ok((await bytesRead(1, 2_000)) < large.length)
})

test('while the listener stops, input that arrives after the last response is still read', async () => {
  const { listener, port } = await open('x')
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  socket.write(ask.repeat(400_000)) // 11 MB, more than the system buffers
  await once(socket, 'readable')
  const stopped = listener.stop(120_000, 1_000)
  await once(socket.resume(), 'end')
  await once(socket.end(), 'close') // fails if the connection is reset before all requests are sent
  await stopped
})

test('connections that reached the machine before the listener began to stop are accepted', async () => {
  const { listener, port } = await open('an answer')
  const sockets = Array.from({ length: 50 }, () => connect(port, '127.0.0.1'))
  const texts = sockets.map(async (socket) => {
    socket.write(ask)
    return await wholeText(socket)
  })
  for (let turns = 0; turns < 3; turns += 1) await new Promise(process.nextTick) // connecting takes one turn
  await listener.stop(120_000, 1_000)
  for (const text of await Promise.all(texts)) assert.match(text, /an answer$/)
})

test('a client that never stops pipelining loses no response when the listener stops', async () => {
  const { listener, port } = await open('x'.repeat(1_000))
  const socket = connect(port, '127.0.0.1').pause()
  const more = () => {
    while (socket.writable && socket.write(ask.repeat(1_000)));
  }
  socket.on('drain', more).on('error', () => undefined)
  more()
  await delay(100)
  const whole = wholeText(socket)
  await delay(100)
  // Without a grace period, the connection could be closed when only part of a request has arrived.
  const stopped = listener.stop(120_000, 1_000)
  const text = await whole
  socket.off('drain', more).destroy()
  await stopped
  const responses = text.split('HTTP/1.1 200 OK\r\n').slice(1)
  assert.match(responses.at(-1) ?? '', /Connection: close\r\n/)
  for (const response of responses) assert.ok(response.endsWith('x'.repeat(1_000)))
})
