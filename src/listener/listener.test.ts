/** Tests the listener without the service: pipelined requests, slow clients, idle connections and shutdown. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { after, test } from 'node:test'
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import { collectGarbage } from '../../test/support/garbage.js'
import { until } from '../../test/support/process.js'
import { wholeText } from '../../test/support/socket.js'
import type { Connection } from './connection.js'
import { createListener, type ListenerLimits } from './listener.js'
import type { Refusal } from './refusal.js'

const head = 'GET / HTTP/1.1\r\nHost: a\r\n'
const ask = `${head}\r\n`
const large = Buffer.alloc(50_000_000) // more bytes than the system accepts in one write

interface Exchange {
  readonly response: ServerResponse
  readonly connection: Connection
}

type Opened = Awaited<ReturnType<typeof open>>

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
      connection.batch.handle(() => serve({ response, connection }))
    },
  )
  const port = await listener.listen(0, '127.0.0.1')
  const socket = connect(port, '127.0.0.1')
  socket.setTimeout(120_000, () => socket.destroy(new Error('nothing has arrived')))
  after(() => {
    socket.destroy()
    return listener.stop(0)
  })
  return { listener, port, socket, served, refused }
}

function answer({ response, connection }: Exchange): void {
  if (connection.beginResponse()) connection.batch.end(response, 'answered')
}

function answerAtLength({ response, connection }: Exchange): void {
  if (connection.beginResponse()) response.end(large)
}

async function arrived({ served }: Opened, place = 0): Promise<Exchange> {
  await until(`request ${place}`, () => served.length > place)
  return served[place] ?? assert.fail()
}

/** Returns the first request once a second one waits behind it. */
async function firstOfMany({ served }: Opened): Promise<Exchange> {
  await until('requests that wait', () => (served[0]?.connection.bufferedBytes ?? 0) > 0)
  return served[0] ?? assert.fail()
}

/** Opens another connection, and waits until its incomplete request has timed out. */
async function timeout({ port }: Opened): Promise<void> {
  const other = connect(port, '127.0.0.1', () => other.write(head))
  await once(other.resume(), 'end')
  other.destroy()
}

function bodiesIn(text: string): string[] {
  return text.match(/answered|refused/g) ?? []
}

test('requests after a late request have no effect', async () => {
  const opened = await open({ requestTimeout: 1 })
  const { socket, served, refused } = opened
  socket.write(`${ask}${head}Content-Length: 2\r\n\r\n1`)
  answer(await firstOfMany(opened))
  const text = wholeText(socket)
  await until('a refusal', () => refused.includes('requestTimeout'))
  socket.write(`2${ask}`)
  assert.deepEqual(bodiesIn(await text), ['answered', 'refused'])
  assert.equal(served.length, 2)
})

test('the rest of a head after another request is not late when the client reads an earlier response slowly', async () => {
  const opened = await open({ requestTimeout: 4 }) // long enough for a busy machine to send the rest of the request
  const { socket } = opened
  socket.pause().write(ask)
  const first = await arrived(opened)
  assert.ok(first.connection.beginResponse())
  first.response.write(Buffer.alloc(20_000_000))
  socket.write(ask + head)
  await firstOfMany(opened)
  socket.write('\r\n')
  await timeout(opened)
  first.response.end()
  const text = wholeText(socket)
  for (const place of [1, 2]) answer(await arrived(opened, place))
  socket.end()
  assert.deepEqual(bodiesIn(await text), ['answered', 'answered'])
})

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
  answer(await firstOfMany(opened))
  const text = await wholeText(opened.socket)
  assert.deepEqual(bodiesIn(text), ['answered'])
  assert.match(text, /answered\r\n0\r\n\r\nHTTP\/1\.1 400 /)
})

for (const [what, parts] of [
  [
    'heads and bodies',
    [ask, `${head}foo: ${'x'.repeat(10_000)}\r\nContent-Length: 5\r\n\r\n12345`],
  ],
  ['a head that is incomplete', [`${ask}${head}foo: ${'x'.repeat(10_000)}`]],
  ['the pieces of a head', [`${ask}GET`, ' / HTTP/1.1\r\nHost: ', 'x'.repeat(10_000)]],
] as const) {
  test(`the memory of buffered input includes ${what}`, async () => {
    const { socket, served } = await open()
    socket.setNoDelay(true)
    for (const part of parts) {
      socket.write(part)
      await delay(20)
    }
    await until('10,000 bytes', () => (served[0]?.connection.bufferedBytes ?? 0) > 10_000)
  })
}

test('a head that arrives in pieces behind an unanswered request is read completely', async () => {
  const opened = await open()
  const { socket, served } = opened
  // The body of the first request looks like the head that follows.
  const pieces = ['GET  /', 'x HTTP/1.1\r\nX', ':\ty \r\nHost: ', 'a\r', '\n\r\n']
  const body = pieces.join('')
  socket.setNoDelay(true).write(`${head}Content-Length: ${body.length}\r\n\r\n${body}`)
  const { connection } = await arrived(opened)
  for (const piece of pieces) {
    const { bytesRead } = connection.socket
    socket.write(piece)
    await until('a piece', () => connection.socket.bytesRead === bytesRead + piece.length)
  }
  const written = 'GET /x HTTP/1.1\r\nX:\ty \r\nHost: a\r\n\r\n'
  assert.equal(connection.bufferedBytes, written.length)
  answer(served[0] ?? assert.fail())
  const { req } = (await arrived(opened, 1)).response
  assert.deepEqual([req.url, req.rawHeaders], ['/x', ['X', 'y', 'Host', 'a']])
})

test('a connection is closed when white space in a head takes too much memory', async () => {
  const { socket, served } = await open()
  socket.on('error', () => undefined).write(`${ask}${head}foo:${' '.repeat(1_000_000)}`)
  await until('the end', () => served[0]?.connection.socket.destroyed === true)
})

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

test('a connection that buffers too much releases its requests at once', async () => {
  const opened = await open()
  const bytes = ask.repeat(101)
  opened.socket.on('error', () => undefined).write(bytes)
  const { connection } = await firstOfMany(opened)
  await until('all of them', () => connection.socket.bytesRead >= bytes.length)
  connection.giveUp()
  assert.equal(connection.bufferedBytes, 0)
  assert.equal(connection.socket.readableLength, 0)
  assert.ok(connection.socket.destroyed)
})

test('a response that is not ready yet may take longer than the idle timeout', async () => {
  const opened = await open({ idleTimeout: 1 })
  const { socket } = opened
  socket.write(ask)
  const first = await arrived(opened)
  // Another connection reads nothing. Once it has timed out, the first one has waited longer than the timeout too.
  const other = connect(opened.port, '127.0.0.1').on('error', () => undefined)
  other.pause().write(ask)
  const second = await arrived(opened, 1)
  answerAtLength(second)
  await until('the timeout', () => second.connection.socket.destroyed)
  other.destroy()
  answer(first)
  assert.deepEqual(bodiesIn(await wholeText(socket.end())), ['answered'])
})

test('a client that never closes its side is disconnected some time after its last response', async () => {
  const { listener, served, socket } = await open({}, answer)
  socket.allowHalfOpen = true
  socket.resume().write(`${head}Connection: close\r\nContent-Length: 2\r\n\r\n1`)
  await once(socket, 'end')
  await until('the end', () => served[0]?.connection.socket.destroyed === true)
  await listener.stop(0)
})

test('a connection counts as idle although empty lines arrive (RFC 9112 §2.2)', async () => {
  const { listener, socket } = await open({ keepAliveTimeout: 1 }, answer)
  socket.on('error', () => undefined).write(ask)
  await once(socket, 'data')
  socket.resume()
  await until('the end of the connection', () => {
    socket.write('\r\n')
    return socket.closed
  })
  await listener.stop(0)
})

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

test('the grace period of a connection that has long been idle begins with the stop', async () => {
  const { listener, socket } = await open({}, answer)
  socket.write(ask)
  await once(socket, 'data')
  await delay(2_100)
  const text = wholeText(socket)
  const stopped = listener.stop(120_000, 2_000)
  for (let turns = 0; turns < 10; turns += 1) await nextTurn() // afterwards, the stop has begun
  socket.write(ask)
  assert.deepEqual(bodiesIn(await text), ['answered'])
  await stopped
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

async function bytesRead(idleTimeout: number, wait: number): Promise<number> {
  const { socket } = await open({ idleTimeout }, answerAtLength)
  socket.pause().write(`${head}Connection: close\r\n\r\n`)
  await delay(wait)
  return (await wholeText(socket)).length
}

test('a new connection has the whole idle timeout for its first response', async () => {
  // On a busy machine, the client may need longer than a short timeout, so the test then tries a longer one.
  const isWhole = async (timeout: number, wait: number) =>
    (await bytesRead(timeout, wait)) > large.length
  assert.ok((await isWhole(8, 3_000)) || (await isWhole(60, 20_000)))
})

test('while the listener stops, input that arrives after the last response is still read', async () => {
  const { listener, port } = await open({}, answer)
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  socket.write(ask.repeat(400_000)) // 11 MB, more than the system buffers
  await once(socket, 'readable')
  const stopped = listener.stop(120_000, 1_000)
  await once(socket.resume(), 'end')
  await once(socket.end(), 'close') // fails if the connection is reset before all requests are sent
  await stopped
})

test('connections that reached the machine before the listener began to stop are accepted', async () => {
  const { listener, port } = await open({}, answer)
  const sockets = Array.from({ length: 50 }, () => connect(port, '127.0.0.1'))
  const texts = sockets.map(async (socket) => {
    socket.write(ask)
    return await wholeText(socket)
  })
  for (let turns = 0; turns < 3; turns += 1) await new Promise(process.nextTick) // connecting takes one turn
  await listener.stop(120_000, 1_000)
  for (const text of await Promise.all(texts)) assert.deepEqual(bodiesIn(text), ['answered'])
})

test('a client that never stops pipelining loses no response when the listener stops', async () => {
  const { listener, socket } = await open({}, answer)
  const more = () => {
    while (socket.writable && socket.write(ask.repeat(1_000)));
  }
  socket
    .pause()
    .on('drain', more)
    .on('error', () => undefined)
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
  for (const response of responses) assert.deepEqual(bodiesIn(response), ['answered'])
})
