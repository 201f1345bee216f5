/** Tests that no response is lost when a connection closes (interface §7). */

import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { create } from '../conformance/expect.js'
import { type OwnService, ownService, ownTest } from '../support/own-service.js'
import { answerReader, headOf, openSocket, type RawAnswer, wholeText } from '../support/socket.js'

const pad = 'x'.repeat(1_000_000)

async function withItem(): Promise<{ own: OwnService; path: string }> {
  const own = await ownService()
  return { own, path: `/items/${(await create(own, { pad })).id}` }
}

/** Sends requests in pieces, and starts to read the responses only after the last piece. */
async function readLate({ baseUrl }: OwnService, pieces: readonly (string | Buffer)[]) {
  // With `allowHalfOpen`, the client can still write after the service has closed its side of the connection.
  const socket = openSocket(baseUrl, '', { allowHalfOpen: true }).pause()
  for (const piece of pieces) {
    socket.write(piece)
    await delay(300)
  }
  return responsesIn(await wholeText(socket)) // throws if the connection is reset
}

function responsesIn(text: string): readonly RawAnswer[] {
  const reader = answerReader()
  reader.take(Buffer.from(text, 'latin1'))
  assert.equal(reader.rest(), '', 'the last response is cut short')
  return reader.all
}

ownTest('§7 a large item, and the 400 for garbage after it, both arrive', async () => {
  const { own, path } = await withItem()
  const get = headOf(own, 'GET', path)
  const pieces = [`${get}garbage\r\n\r\n`, 'more bytes']
  const [item, refusal, ...others] = await readLate(own, pieces)
  assert.ok(item?.body.endsWith(`"pad":"${pad}"}}`))
  assert.equal(refusal?.status, 400)
  assert.deepEqual(others, [])
})

ownTest('§7 a response is complete despite 200 KB after Connection: close', async () => {
  const { own, path } = await withItem()
  const get = headOf(own, 'GET', path, 'Connection: close')
  for (const pieces of [[get, Buffer.alloc(200_000)], [get + 'x'.repeat(200_000)]]) {
    const [item, ...others] = await readLate(own, pieces)
    assert.ok(item?.body.endsWith(`"pad":"${pad}"}}`))
    assert.deepEqual(others, [])
  }
})

ownTest('§7 a request head of 100 KB gets 431 HEADERS_TOO_LARGE, and no reset', async () => {
  const own = await ownService()
  const head = headOf(own, 'GET', '/items', `Foo: ${'x'.repeat(100_000)}`)
  const pieces = [head.slice(0, 50_000), head.slice(50_000)]
  const [refusal, ...others] = await readLate(own, pieces)
  assert.equal(refusal?.status, 431)
  assert.match(refusal?.body ?? '', /"error_code":"HEADERS_TOO_LARGE"/)
  assert.deepEqual(others, [])
})

ownTest(
  '§4 the last response ends the connection at once, although the body never comes',
  async () => {
    const own = await ownService({ REQUEST_TIMEOUT: '600' })
    const post = `POST ${own.baseUrl.pathname}/items HTTP/1.1\r\nHost: a\r\n`
    const [length, expects] = ['Content-Length: 9', 'Expect: 100-continue']
    for (const [bytes, status] of [
      [`${post}Connection: close\r\n${length}\r\n\r\n`, 401],
      [`${post}Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n`, 401],
      [`${post.replace('1.1', '1.0')}${length}\r\n\r\n{`, 401],
      [`${post}${length}\r\n${expects}\r\n\r\n`, 401],
      [headOf(own, 'POST', '/nothing', length, expects), 404],
      [headOf(own, 'POST', '/items', `${length}${'0'.repeat(9)}`, expects), 413],
      [headOf(own, 'GET', '/items?project_id=a', length).replace('1.1', '1.0'), 200],
    ] as const) {
      const text = await wholeText(openSocket(own.baseUrl, bytes, { allowHalfOpen: true }))
      assert.equal(text.slice(0, 12), `HTTP/1.1 ${status}`)
    }
  },
)

ownTest(
  '§7 a body that arrives slowly after the last response does not reset the connection',
  async () => {
    const own = await ownService()
    const post = `POST ${own.baseUrl.pathname}/items HTTP/1.1\r\nHost: a\r\nConnection: close\r\n`
    const body = Array<string>(9).fill('x'.repeat(9))
    const [refusal, ...others] = await readLate(own, [`${post}Content-Length: 99\r\n\r\n`, ...body])
    assert.equal(refusal?.status, 401)
    assert.deepEqual(others, [])
  },
)

ownTest('a half-sent body delays the shutdown no longer than SHUTDOWN_TIMEOUT', async () => {
  const own = await ownService({ SHUTDOWN_TIMEOUT: '1' })
  openSocket(own.baseUrl, `${headOf(own, 'POST', '/items', 'Content-Length: 9')}{"data`)
  await own.request('GET', '/health') // connections are accepted in order
  own.child.kill('SIGTERM')
  assert.deepEqual(await own.ended(), [0, null])
})
