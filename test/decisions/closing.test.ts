/** Decisions on §7: bytes that a client sends after its last request never cost it a response, nor does SIGTERM. */

import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { type OwnService, ownService, ownTest } from '../support/own-service.js'
import { answerReader, type RawAnswer } from '../support/raw-answers.js'
import { headOf, openSocket, slowly, wholeText } from '../support/socket.js'
import { until } from '../support/until.js'

const pad = 'x'.repeat(1_000_000)

/** A connection to a service with an item of 1 MB, and the path of the item. */
async function withItem(): Promise<{ own: OwnService; path: string }> {
  const own = await ownService()
  const { text } = await own.call('POST', '/items', { data: { pad } })
  return { own, path: `/items/${JSON.parse(text).data.id}` }
}

/** Writes the pieces with 0.3 seconds between them, and reads only after the last one. */
async function readLate(own: OwnService, pieces: readonly (string | Buffer)[]): Promise<string> {
  // With a half-open socket, the client goes on writing after it has read the end.
  const socket = openSocket(own.baseUrl, '', { allowHalfOpen: true }).pause()
  for (const piece of pieces) {
    socket.write(piece)
    await delay(300)
  }
  return await wholeText(socket) // fails if the connection is reset
}

/** The responses in a text, of which none is cut short. */
function responsesIn(text: string): readonly RawAnswer[] {
  const reader = answerReader()
  reader.take(Buffer.from(text, 'latin1'))
  assert.equal(reader.rest(), '', 'cut short')
  return reader.all
}

ownTest('§7 a large item, garbage behind it, and more bytes later: both responses', async () => {
  const { own, path } = await withItem()
  const get = headOf(own, 'GET', path)
  const [item, refusal, ...others] = responsesIn(
    await readLate(own, [`${get}garbage\r\n\r\n`, 'more bytes']),
  )
  assert.ok(item?.body.endsWith(`"pad":"${pad}"}}`))
  assert.equal(refusal?.status, 400)
  assert.deepEqual(others, [])
})

ownTest('§7 200 KB after a request with Connection: close: the whole response', async () => {
  const { own, path } = await withItem()
  const get = headOf(own, 'GET', path, 'Connection: close')
  for (const pieces of [[get, Buffer.alloc(200_000)], [get + 'x'.repeat(200_000)]]) {
    const [item, ...others] = responsesIn(await readLate(own, pieces))
    assert.ok(item?.body.endsWith(`"pad":"${pad}"}}`))
    assert.deepEqual(others, [])
  }
})

ownTest('§7 a head of 100 KB: 431 HEADERS_TOO_LARGE, and no reset', async () => {
  const own = await ownService()
  const head = headOf(own, 'GET', '/items', `Foo: ${'x'.repeat(100_000)}`)
  const pieces = [head.slice(0, 50_000), head.slice(50_000)]
  const [refusal, ...others] = responsesIn(await readLate(own, pieces))
  assert.equal(refusal?.status, 431)
  assert.match(refusal?.body ?? '', /"error_code":"HEADERS_TOO_LARGE"/)
  assert.deepEqual(others, [])
})

ownTest('SIGTERM with 482 KB of pipelined reads: what was begun arrives', async () => {
  const own = await ownService({ LOG_LEVEL: 'debug', SHUTDOWN_TIMEOUT: '60' })
  // The system takes no more than half of all responses, so the service waits for the client.
  const { text } = await own.call('POST', '/items', { data: { pad: 'x'.repeat(20_000) } })
  const get = headOf(own, 'GET', `/items/${JSON.parse(text).data.id}`)
  const bytes = get.repeat(Math.ceil(482_000 / get.length))
  const socket = openSocket(own.baseUrl, bytes).pause()
  await until('a response', () => own.log.some(({ method }) => method === 'GET'))
  own.child.kill('SIGTERM')
  await until('stopping', () => own.log.some(({ msg }) => msg === 'SIGTERM: stopping'))
  const chunks: Buffer[] = []
  for await (const chunk of slowly(socket)) chunks.push(chunk)
  const responses = responsesIn(Buffer.concat(chunks).toString('latin1'))
  assert.deepEqual(await own.ended(), [0, null])
  const answered = own.log.filter(({ msg, method }) => msg === 'answered' && method === 'GET')
  assert.equal(responses.length, answered.length)
  const isLast = responses.map(({ head }) => /\r\nConnection: close\r\n/.test(head))
  assert.equal(isLast.indexOf(true), responses.length - 1)
})

ownTest('a half-sent body delays the shutdown no longer than SHUTDOWN_TIMEOUT', async () => {
  const own = await ownService({ SHUTDOWN_TIMEOUT: '1' })
  openSocket(own.baseUrl, `${headOf(own, 'POST', '/items', 'Content-Length: 9')}{"data`)
  await own.request('GET', '/health') // connections are accepted in turn
  own.child.kill('SIGTERM')
  assert.deepEqual(await own.ended(), [0, null])
})
