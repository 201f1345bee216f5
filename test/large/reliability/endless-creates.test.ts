/** Tests a shutdown while clients keep creating items. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { type OwnService, ownService, ownTest, withLimits } from '../../support/own-service.js'
import { randomNumbers } from '../../support/random.js'
import { answerReader, headerOf } from '../../support/raw-answers.js'
import { numbers } from '../../support/report.js'
import { headOf } from '../../support/socket.js'

const { count } = numbers({ count: 10 })

/** Minimum size of each write by a client, in bytes. */
const burst = 128 * 1024

/** Maximum duration of the shutdown, in milliseconds. The service's own limit is ten seconds. */
const endTimeout = 60_000

ownTest('SIGTERM while clients pipeline creates endlessly: each create is answered', async () => {
  const random = randomNumbers()
  for (let round = 1; round <= count; round += 1) {
    const textLength = [0, 300, 3_000, 30_000][random(4)] ?? 0
    const own = await ownService({}, withLimits({}))
    const clients = Array.from({ length: 1 + random(8) }, () => startClient(own, textLength))
    await delay(30 + random(300))
    own.child.kill('SIGTERM')
    const ends = await Promise.all(clients)
    assert.deepEqual(await own.ended(endTimeout), [0, null])
    const problems = ends.flatMap((end) => end.problems)
    assert.deepEqual(problems, [], `round ${round}`)
    const answered = ends.reduce((sum, end) => sum + end.answered, 0)
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

async function countResponses(socket: Socket) {
  const problems: string[] = []
  let seen = 0
  let answered = 0
  let isLast = false
  const reader = answerReader()
  socket.on('error', (error) => problems.push(error.message)) // the connection must not be reset
  socket.on('data', (chunk: Buffer) => {
    reader.take(chunk)
    for (const { status, head } of reader.answers.slice(seen)) {
      seen += 1
      if (isLast) problems.push('a response after the last one')
      if (status === 201) answered += 1
      else problems.push(head.slice(0, head.indexOf('\r\n')))
      isLast = headerOf(head, 'connection') === 'close'
    }
  })
  await once(socket, 'close').catch(() => undefined) // `problems` contains the error
  const { length } = reader.rest()
  if (length > 0) problems.push(`${length} bytes of a response that was cut short`)
  if (!isLast) problems.push('the last response has no Connection: close')
  return { answered, problems }
}
