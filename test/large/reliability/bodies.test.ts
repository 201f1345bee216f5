/** Tests of bodies that could take much more memory than their size, or that never end. */

import assert from 'node:assert/strict'
import { assertRefused, sendText } from '../../decisions/expect.js'
import { ownService, ownTest } from '../../support/own-service.js'
import { residentBytes, until } from '../../support/process.js'
import { firstText, headOf, openSocket } from '../../support/socket.js'

const limit = 16 * 1024 * 1024

ownTest('a small heap is enough for the largest body, with any content', async () => {
  const own = await ownService({ NODE_OPTIONS: '--max-old-space-size=64' })
  let members = ''
  for (let n = 0; members.length < limit - 100; n += 1) members += `"${n.toString(36)}":1,`
  const nested = limit / 2 - 10
  const long = (n: number) => `"${n.toString(36).padStart(250, 'é')}":1`
  for (const body of [
    `{"data":{"a":{${members}"a":1}}}`,
    `{"data":{"a":{${'"a":1,'.repeat(limit / 6 - 10)}"a":1}}}`,
    `{${members}"data":{}}`,
    `{"data":{${Array.from({ length: 30_000 }, (_, n) => long(n))}}}`,
    `{"data":{"a":${'['.repeat(nested)}${']'.repeat(nested)}}}`,
  ]) {
    const { status } = await sendText(own, 'POST', '/items', body)
    assert.equal(status, 201, body.slice(0, 30))
  }
  for (const body of ['['.repeat(limit), `{"data":{${members}"a":1}}`]) {
    assertRefused(await sendText(own, 'POST', '/items', body), 422, 'VALIDATION_ERROR')
  }
  const names = Array.from({ length: 65_536 }, (_, n) => `"${n.toString(36).padStart(64, 'é')}":1`)
  const crowd = Array.from({ length: 20 }, () =>
    sendText(own, 'POST', '/items', `{"data":{${names}}}`),
  )
  for (const { status } of await Promise.all(crowd)) assert.ok(status === 201 || status === 503)
  assert.equal((await sendText(own, 'POST', '/items', '{"data":{}}')).status, 201)
})

ownTest('a body in chunks of one byte takes no more memory than its bytes', async () => {
  const own = await ownService()
  const before = residentBytes(own)
  const head = headOf(own, 'POST', '/items', 'Transfer-Encoding: chunked')
  const socket = openSocket(own.baseUrl, head)
  socket.write(chunked(`{"data":{"a":"${'x'.repeat(1_000_000)}`))
  let last = -1 // once it stays the same, the whole body has been sent
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

ownTest('the pieces of rejected bodies do not fill the heap of the process', async () => {
  const own = await ownService()
  const body = `{"data":{"a":"${'x'.repeat(1_000_000)}"}}`
  const refuse = async (count: number) => {
    for (let sent = 0; sent < count; sent += 1) {
      assert.equal((await own.request('POST', '/items', { token: 'x', body })).status, 401)
    }
  }
  await refuse(5)
  const before = residentBytes(own)
  await refuse(200)
  const more = residentBytes(own) - before
  assert.ok(more < 48_000_000, `${more} bytes more`)
})

/** Encodes text in chunks of one byte each (RFC 9112 §7.1). */
function chunked(text: string): string {
  return text.replace(/./g, '1\r\n$&\r\n')
}
