/** Tests a shutdown while clients keep creating items. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { type OwnService, ownService, ownTest, withLimits } from '../../support/own-service.js'
import { randomNumbers } from '../../support/random.js'
import { numbers } from '../../support/report.js'
import { answerReader, headerOf, headOf } from '../../support/socket.js'

const { count } = numbers({ count: 10 })
const burst = 128 * 1024 // bytes per write, at least

ownTest('SIGTERM while clients pipeline creates endlessly: each create is answered', async () => {
  const random = randomNumbers()
  for (let round = 1; round <= count; round += 1) {
    const textLength = [0, 300, 3_000, 30_000][random(4)] ?? 0
    const own = await ownService({}, withLimits({}))
    const clients = Array.from({ length: 1 + random(8) }, () => startClient(own, textLength))
    await delay(30 + random(300))
    own.child.kill('SIGTERM')
    const [exit, ...counts] = await Promise.all([own.ended(), ...clients])
    assert.deepEqual(exit, [0, null])
    const answered = counts.reduce((sum, count) => sum + count, 0)
    assert.equal(own.log.find(({ msg }) => msg === 'closing the store')?.items, answered)
    assert.ok(answered > 0)
  }
})

function startClient(own: OwnService, textLength: number) {
  const body = `{"data":{"text":"${'x'.repeat(textLength)}"}}`
  const request = headOf(own, 'POST', '/items', `Content-Length: ${body.length}`) + body
  const bytes = Buffer.from(request.repeat(Math.ceil(burst / request.length)))
  const socket = connect({ port: Number(own.baseUrl.port), host: '127.0.0.1' })
  const send = () => {
    while (socket.writable && socket.write(bytes));
  }
  socket.on('connect', send).on('drain', send)
  return countResponses(socket)
}

async function countResponses(socket: Socket): Promise<number> {
  const reader = answerReader()
  socket.on('data', reader.take)
  await once(socket, 'close') // throws if the connection is reset
  assert.equal(reader.rest(), '', 'the last response is cut short')
  for (const [n, { status, head }] of reader.answers.entries()) {
    assert.equal(status, 201, head)
    const isLast = headerOf(head, 'connection') === 'close'
    assert.equal(isLast, n === reader.answers.length - 1, 'which response is the last')
  }
  return reader.answers.length
}
