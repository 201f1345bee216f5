/** Tests of bodies that could take much more memory than their size, or that never end. */

import assert from 'node:assert/strict'
import { assertRefused } from '../../decisions/expect.js'
import { ownService, ownTest, withLimits } from '../../support/own-service.js'
import { residentBytes } from '../../support/process.js'
import { firstText, headOf, openSocket } from '../../support/socket.js'
import { until } from '../../support/until.js'

const limit = 16 * 1024 * 1024

ownTest('a small heap is enough for the largest body, with any content', async () => {
  const own = await ownService({ NODE_OPTIONS: '--max-old-space-size=64' })
  const send = (body: string) => own.request('POST', '/items', { token: own.validToken(), body })
  const members: string[] = []
  for (let length = 0; length < limit - 100; length += members.at(-1)?.length ?? 0) {
    members.push(`"${members.length.toString(36)}":1,`)
  }
  assert.equal((await send(`{"data":{${members.join('')}"a":1}}`)).status, 201)
  assert.equal((await send(`{"data":{${'"a":1,'.repeat(limit / 6 - 10)}"a":1}}`)).status, 201)
  assert.equal((await send(`{${members.join('')}"data":{}}`)).status, 201)
  assert.equal((await send(`{"data":{${'"":1,'.repeat(limit / 5 - 10)}"":1}}`)).status, 201)
  assertRefused(await send('['.repeat(limit)), 422, 'VALIDATION_ERROR')
  const nested = limit / 2 - 10
  assert.equal(
    (await send(`{"data":{"a":${'['.repeat(nested)}${']'.repeat(nested)}}}`)).status,
    201,
  )
})

ownTest('a body in chunks of one byte takes no more memory than its bytes', async () => {
  const own = await ownService()
  const before = residentBytes(own)
  const head = headOf(own, 'POST', '/items', 'Transfer-Encoding: chunked')
  const socket = openSocket(own.baseUrl, head)
  socket.write(chunked(`{"data":{"a":"${'x'.repeat(1_000_000)}`))
  // Once the number of written bytes stays constant, the whole body has been sent.
  let last = -1
  await until('the end of sending', () => {
    const isSame = socket.bytesWritten === last && socket.writableLength === 0
    last = socket.bytesWritten
    return isSame
  })
  const more = residentBytes(own) - before
  socket.write(`${chunked('"}}')}0\r\n\r\n`)
  assert.match(await firstText(socket), /^HTTP\/1\.1 201 Created\r\n/)
  assert.ok(more < 100_000_000, `${more} bytes more for a body of 1 MB`)
})

ownTest(
  'bodies above the limit for pending bodies get 503 with Retry-After, until there is space again',
  async () => {
    const limits = withLimits({ maxPendingBytes: 15_000_000 })
    const own = await ownService({ MAX_BODY_BYTES: '10000000' }, limits)
    const halfSent = () => {
      const head = headOf(own, 'POST', '/items', 'Content-Length: 10000000')
      return openSocket(own.baseUrl, head + ' '.repeat(9_000_000))
    }
    const sockets = [halfSent(), halfSent()]
    const answers = sockets.map((socket) =>
      firstText(socket).then((answer) => ({ socket, answer })),
    )
    const { socket: refused, answer } = await Promise.race(answers)
    assert.match(answer, /^HTTP\/1\.1 503 Service Unavailable\r\n/)
    assert.match(answer, /\r\nRetry-After: 1\r\n/)
    assert.match(answer, /"error_code":"SERVICE_UNAVAILABLE"/)

    const held = sockets.find((socket) => socket !== refused)
    assert.equal((await own.call('POST', '/items', { data: {} })).status, 201)
    held?.write(`{"data":{"a":1}}${' '.repeat(1_000_000 - 16)}`)
    const answered = await Promise.all(answers)
    assert.match(answered.map((each) => each.answer).join(), /HTTP\/1\.1 201 Created\r\n/)
    for (const socket of sockets) socket.destroy()

    for (let round = 0; round < 3; round += 1) {
      const broken = halfSent()
      await until('the end of sending a body', () => broken.writableLength === 0)
      broken.destroy()
    }
    const body = `{"data":{}}${' '.repeat(9_000_000)}`
    await until('space for a body', async () => {
      const options = { token: own.validToken(), body }
      return (await own.request('POST', '/items', options)).status === 201
    })
  },
)

ownTest('idle connections do not keep the bodies of their last requests in memory', async () => {
  const own = await ownService()
  const before = residentBytes(own)
  const body = `{"data":{"pad":"${'x'.repeat(15_000_000)}"}}`
  for (let count = 0; count < 40; count += 1) {
    const head = headOf(own, 'PUT', `/items/${count}`, `Content-Length: ${body.length}`)
    await firstText(openSocket(own.baseUrl, head + body))
  }
  const more = residentBytes(own) - before
  assert.ok(more < 300_000_000, `${more} bytes more`)
})

/** Returns a text as chunks of one byte each (RFC 9112 §7.1). */
function chunked(text: string): string {
  return text.replace(/./g, '1\r\n$&\r\n')
}

ownTest('the pieces of rejected bodies do not fill the heap of the process', async () => {
  const own = await ownService()
  const body = `{"data":{"a":"${'x'.repeat(1_000_000)}"}}`
  const refuse = async (count: number) => {
    for (let sent = 0; sent < count; sent += 1) {
      const { status } = await own.request('POST', '/items', { token: 'x', body })
      assert.equal(status, 401)
    }
  }
  await refuse(5)
  const before = residentBytes(own)
  await refuse(100)
  const more = residentBytes(own) - before
  assert.ok(more < 12_000_000, `${more} bytes more`)
})
