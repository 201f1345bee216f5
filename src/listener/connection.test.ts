/** Tests pipelined requests and idle connections. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { after, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { collectGarbage } from '../../test/support/garbage.js'
import { wholeText } from '../../test/support/socket.js'
import { until } from '../../test/support/until.js'
import type { Connection } from './connection.js'
import { createListener, type ListenerLimits } from './listener.js'
import type { Refusal } from './refusal.js'

const head = 'GET / HTTP/1.1\r\nHost: a\r\n'
const ask = `${head}\r\n`

interface Exchange {
  readonly response: ServerResponse
  readonly connection: Connection
}

type Opened = Awaited<ReturnType<typeof open>>

/** @param changed limits that differ from the defaults. */
async function open(changed: Partial<ListenerLimits> = {}, serve = (_exchange: Exchange) => {}) {
  const served: Exchange[] = []
  const refused: Refusal[] = []
  const limits = {
    ...{ maxHeaderBytes: 16_384, maxHeaderLines: 128, maxConnections: 100 },
    ...{ maxPipelinedBytes: 10_000_000, requestTimeout: 60, idleTimeout: 60, keepAliveTimeout: 60 },
    ...changed,
  }
  const listener = createListener(
    limits,
    (refusal) => {
      refused.push(refusal)
      return { status: 400, headers: ['Content-Length', '7'], body: 'refused' }
    },
    (response, connection) => {
      served.push({ response, connection })
      serve({ response, connection })
    },
  )
  const port = await listener.listen(0, '127.0.0.1')
  const socket = connect(port, '127.0.0.1')
  socket.setTimeout(120_000, () => socket.destroy(new Error('nothing has arrived')))
  after(() => {
    socket.destroy()
    return listener.stop(0)
  })
  return { listener, socket, served, refused }
}

function answer({ response, connection }: Exchange): void {
  if (connection.beginResponse()) connection.batch.end(response, 'answered')
}

async function arrived({ served }: Opened, place = 0): Promise<Exchange> {
  await until(`request ${place}`, () => served.length > place)
  return served[place] ?? assert.fail()
}

/** Returns the first request as soon as a second request waits behind it. */
async function firstOfMany({ served }: Opened): Promise<Exchange> {
  await until('requests that wait', () => (served[0]?.connection.heldBytes ?? 0) > 0)
  return served[0] ?? assert.fail()
}

async function timeout({ socket }: Opened): Promise<void> {
  const other = connect(socket.remotePort ?? 0, '127.0.0.1', () => other.write(head))
  await once(other.resume(), 'end')
  other.destroy()
}

function bodiesIn(text: string): string[] {
  return text.match(/answered|refused/g) ?? []
}

test('requests after a late request have no effect, even if the late request waits for an earlier one', async () => {
  const opened = await open({ requestTimeout: 1 })
  const { socket, served, refused } = opened
  socket.write(`${ask}${head}Content-Length: 2\r\n\r\n1`)
  await until('a refusal', () => refused.includes('requestTimeout'))
  socket.write(`2${ask}`)
  answer(await firstOfMany(opened))
  assert.deepEqual(bodiesIn(await wholeText(socket)), ['answered', 'refused'])
  assert.equal(served.length, 1)
})

for (const { what, start, rest, behind } of [
  { what: 'a body', start: `${head}Content-Length: 2\r\n\r\n1`, rest: '2', behind: 1 },
  { what: 'a head after another request', start: ask + head, rest: '\r\n', behind: 2 },
]) {
  test(`the rest of ${what} is not late when the client reads an earlier response slowly`, async () => {
    const opened = await open({ requestTimeout: 4 }) // long enough for a busy machine to send the rest of the request
    const { socket } = opened
    socket.pause().write(ask)
    const first = await arrived(opened)
    assert.ok(first.connection.beginResponse())
    first.response.write(Buffer.alloc(20_000_000))
    socket.write(start)
    await firstOfMany(opened)
    socket.write(rest)
    await timeout(opened)
    first.response.end()
    const text = wholeText(socket)
    for (let place = 1; place <= behind; place += 1) answer(await arrived(opened, place))
    socket.end()
    assert.deepEqual(bodiesIn(await text), Array(behind).fill('answered'))
  })
}

test('a client that waits for 100 Continue while an earlier request is served is not late', async () => {
  const opened = await open({ requestTimeout: 4 })
  const { socket } = opened
  socket.write(`${ask}${head}Content-Length: 2\r\nExpect: 100-continue\r\n\r\n`)
  const first = await firstOfMany(opened)
  await timeout(opened)
  answer(first)
  const text = wholeText(socket)
  const second = await arrived(opened, 1)
  second.response.writeContinue()
  socket.end('12')
  await until('the body', () => second.response.req.complete)
  answer(second)
  assert.deepEqual(bodiesIn(await text), ['answered', 'answered'])
})

test('a malformed request after others is rejected, even if the client then closes its side', async () => {
  const opened = await open()
  const { socket } = opened
  socket.write(`${ask}${ask}garbage\r\n\r\n`)
  answer(await firstOfMany(opened))
  answer(await arrived(opened, 1))
  await nextTurn() // the response has been sent, but the connection has not started on the next request
  socket.end()
  assert.deepEqual(bodiesIn(await wholeText(socket)), ['answered', 'answered', 'refused'])
})

test('a pipelined HEAD request whose body was cut short is rejected without a body', async () => {
  const opened = await open()
  opened.socket.end(`${ask}HEAD / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n1`)
  await until('a refusal', () => opened.refused.length === 1)
  answer(opened.served[0] ?? assert.fail())
  const text = await wholeText(opened.socket)
  assert.deepEqual(bodiesIn(text), ['answered'])
  assert.match(text, /answered\r\n0\r\n\r\nHTTP\/1\.1 400 /)
  assert.equal(opened.served.length, 1)
})

const manyLines = Array.from({ length: 120 }, (_, place) => `x${place}: y\r\n`).join('')
for (const [what, lines, count, bytes] of [
  ['their heads', `foo: ${'x'.repeat(10_000)}\r\n`, 5, 50_000],
  // A measurement on Node.js 20 gave 16,500 bytes of heap per request.
  ['the objects of their header lines', manyLines, 16, 16 * 16_500],
] as const) {
  test(`the memory of waiting requests includes ${what}`, async () => {
    const { socket, served } = await open()
    socket.write(ask + `${head}${lines}\r\n`.repeat(count))
    await until(`${bytes} bytes`, () => (served[0]?.connection.heldBytes ?? 0) > bytes)
  })
}

test('while a stopping listener still accepts connections, it keeps open connections open', async () => {
  const opened = await open()
  const { listener, socket } = opened
  socket.write(ask)
  const exchange = await arrived(opened)
  const stopped = listener.stop(120_000)
  answer(exchange)
  const text = await wholeText(socket)
  assert.deepEqual(bodiesIn(text), ['answered'])
  assert.doesNotMatch(text, /Connection: close/)
  await stopped
})

test('requests that were read before the listener began to stop are answered, even if the queue takes no more', async () => {
  const opened = await open({}, (exchange) => {
    if (opened.served.length > 1) answer(exchange)
  })
  const { listener, socket } = opened
  socket.write(ask.repeat(50))
  const first = await firstOfMany(opened)
  const stopped = listener.stop(120_000)
  answer(first)
  assert.equal(bodiesIn(await wholeText(socket)).length, 50)
  socket.end()
  await stopped
})

test('the memory of a waiting request includes the objects of the pieces in which its body arrives', async () => {
  const opened = await open()
  const { socket } = opened
  socket.setNoDelay(true).write(`${ask}${head}Content-Length: 16000\r\n\r\n`)
  const { connection } = await firstOfMany(opened)
  const whole = connection.heldBytes
  for (let piece = 1; piece <= 20; piece += 1) {
    const { bytesRead } = connection.socket
    socket.write('x')
    await until('a byte', () => connection.socket.bytesRead > bytesRead)
    // A one-byte piece of a body takes 480 bytes of the heap.
    assert.ok(connection.heldBytes - whole >= piece * 480, `${connection.heldBytes - whole} bytes`)
  }
})

for (const [what, count] of [
  ['held as objects', 10],
  ['held as objects and bytes', 100],
] as const) {
  test(`a connection that holds too much releases its requests at once: ${what}`, async () => {
    const opened = await open()
    opened.socket.on('error', () => undefined).write(ask.repeat(1 + count))
    const { connection } = await firstOfMany(opened)
    await until('all of them', () => connection.socket.bytesRead >= ask.length * (1 + count))
    connection.giveUp()
    assert.equal(connection.heldBytes, 0)
    assert.equal(connection.socket.readableLength, 0)
    assert.ok(connection.socket.destroyed)
  })
}

test('a stop ends even if requests keep arriving: requests sent after it began get no response', async () => {
  const opened = await open()
  const { listener, socket } = opened
  socket.write(ask.repeat(3))
  const first = await firstOfMany(opened)
  const stopped = listener.stop(20_000)
  for (let turns = 0; turns < 10; turns += 1) await nextTurn() // then all connections are accepted and the stop has begun
  answer(first)
  const second = await arrived(opened, 1)
  const { bytesRead } = first.connection.socket
  socket.write(ask.repeat(2))
  await until('more', () => first.connection.socket.bytesRead > bytesRead)
  answer(second)
  answer(await arrived(opened, 2))
  const text = await wholeText(socket)
  assert.equal(bodiesIn(text).length, 3)
  assert.match(text, /Connection: close\r\n(?:(?!HTTP).)*$/s)
  await stopped
})

test('when the time to stop is over, connections that still wait for a response are closed', async () => {
  const opened = await open()
  opened.socket.write(ask)
  const { connection } = await arrived(opened)
  await opened.listener.stop(0) // with more time, the client would time out first and fail the test
  assert.ok(connection.socket.destroyed)
})

test('a response that is not ready yet may take longer than the idle timeout', async () => {
  const opened = await open({ idleTimeout: 1 })
  const { socket } = opened
  socket.write(ask)
  const first = await arrived(opened)
  // A second client does not read its response. Once its connection is closed, the timeout must have passed.
  const other = connect(socket.remotePort ?? 0, '127.0.0.1').on('error', () => undefined)
  other.pause().write(ask)
  const second = await arrived(opened, 1)
  assert.ok(second.connection.beginResponse())
  second.response.end(Buffer.alloc(50_000_000))
  await until('the timeout', () => second.connection.socket.destroyed)
  other.destroy()
  answer(first)
  assert.deepEqual(bodiesIn(await wholeText(socket.end())), ['answered'])
})

test('a connection is closed after the body of its last request, even if the body is chunked', async () => {
  const opened = await open()
  const { socket } = opened
  socket.write(`${head}Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n`)
  const exchange = await arrived(opened)
  answer(exchange)
  await until('the response', () => exchange.connection.state !== 'responding')
  assert.equal(exchange.connection.state, 'ending')
  socket.write('0\r\n\r\n')
  assert.deepEqual(bodiesIn(await wholeText(socket)), ['answered'])
})

for (const [what, request, isRepeated] of [
  ['an empty line', ask, false],
  ['an empty line after a body', `${head}Content-Length: 1\r\n\r\nx`, false],
  ['a sequence of empty lines', ask, true],
] as const) {
  test(`a connection counts as idle although ${what} has arrived (RFC 9112 §2.2)`, async () => {
    const opened = await open({ keepAliveTimeout: 1 }, answer)
    const { listener, socket } = opened
    socket.on('error', () => undefined).write(request)
    await once(socket, 'data')
    socket.resume().write('\r\n')
    await until('the end of the connection', () => {
      if (isRepeated) socket.write('\r\n')
      return socket.closed
    })
    await listener.stop(0)
  })
}

test('an empty line does not delay a stop', async () => {
  const opened = await open({}, answer)
  const { listener, served, socket } = opened
  socket.write(ask)
  await once(socket, 'data')
  const [{ connection } = assert.fail()] = served
  const { bytesRead } = connection.socket
  socket.resume().write('\r\n')
  await until('the line', () => connection.socket.bytesRead > bytesRead)
  await listener.stop(1_000_000) // longer than the client's timeout, so a delayed stop fails the test
})

test('an idle connection keeps neither its last request nor its last response in memory', async () => {
  const opened = await open({}, answer)
  const { served, socket } = opened
  socket.write(ask)
  await once(socket, 'data')
  const weak = ({ connection, response }: Exchange = assert.fail()) => ({
    connection,
    kept: [new WeakRef(response), new WeakRef(response.req)],
  })
  const { connection, kept } = weak(served.pop())
  await until('the end of the response', () => connection.isFree)
  await until('their release', () => {
    collectGarbage()
    return kept.every((each) => each.deref() === undefined)
  })
  assert.ok(!connection.socket.destroyed)
})
