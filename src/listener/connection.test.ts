/** Requests that wait for an earlier one: how much they count, and what becomes of them. */

import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { after, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { Connection } from './connection.js'
import { createListener, type Listener } from './listener.js'
import type { Refusal } from './refusal.js'

const head = 'GET / HTTP/1.1\r\nHost: a\r\n'
const ask = `${head}\r\n`

interface Opened {
  readonly listener: Listener
  readonly socket: Socket
  /** Requests that have had their turn. */
  readonly served: { response: ServerResponse; connection: Connection }[]
  /** Input that was refused. */
  readonly refused: Refusal[]
}

/** A connection to a listener that answers when told to. @param requestTimeout in seconds. */
async function open(requestTimeout = 60): Promise<Opened> {
  const served: Opened['served'] = []
  const refused: Refusal[] = []
  const limits = {
    ...{ maxHeaderBytes: 16_384, maxHeaderLines: 128, maxConnections: 100 },
    ...{ maxPipelinedBytes: 10_000_000, requestTimeout, idleTimeout: 60, keepAliveTimeout: 60 },
  }
  const listener = createListener(
    limits,
    (refusal) => {
      refused.push(refusal)
      return { status: 400, headers: ['Content-Length', '7'], body: 'refused' }
    },
    (_request, response, connection) => served.push({ response, connection }),
  )
  const port = await listener.listen(0, '127.0.0.1')
  const socket = connect(port, '127.0.0.1')
  socket.setTimeout(20_000, () => socket.destroy(new Error('nothing has arrived')))
  after(() => {
    socket.destroy()
    return listener.stop({ timeout: 0 })
  })
  return { listener, socket, served, refused }
}

/** Answers the request whose turn it is. */
async function answerNext({ served }: Opened, turn: number): Promise<void> {
  await until(() => served.length > turn)
  const { response, connection } = served[turn] ?? assert.fail()
  if (connection.beginResponse()) response.end('answered')
}

async function until(check: () => boolean): Promise<void> {
  for (let tries = 0; tries < 1_000 && !check(); tries += 1) await delay(10)
  assert.ok(check(), 'did not happen')
}

/** Ends of the bodies of responses, in the order received. */
function bodiesIn(text: string): string[] {
  return text.match(/answered|refused/g) ?? []
}

test('what follows a request that was late has no effect, though it waits behind another', async () => {
  const opened = await open(1)
  const { socket, served, refused } = opened
  socket.write(`${ask}${head}Content-Length: 2\r\n\r\n1`)
  await until(() => refused.includes('requestTimeout'))
  socket.write(`2${ask}`)
  await until(() => (served[0]?.connection.heldBytes ?? 0) > 0)
  await answerNext(opened, 0)
  let text = ''
  for await (const part of socket) text += part
  assert.deepEqual(bodiesIn(text), ['answered', 'refused'])
  assert.equal(served.length, 1)
})

test('the heads of requests that wait count as memory', async () => {
  const { socket, served } = await open()
  socket.write(ask + `${head}foo: ${'x'.repeat(10_000)}\r\n\r\n`.repeat(5))
  await until(() => (served[0]?.connection.heldBytes ?? 0) > 50_000)
})
