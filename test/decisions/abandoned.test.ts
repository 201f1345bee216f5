/** Decisions on §8: what connections leave behind that end with requests waiting. The app runs in this process. */

import assert from 'node:assert/strict'
import { subscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { after, test } from 'node:test'
import { pino } from 'pino'
import { createApp } from '../../src/app.js'
import { readConfig } from '../../src/config/read-config.js'
import { createMemoryStore } from '../../src/store/memory/store.js'
import { mintToken, validClaims } from '../conformance/tokens.js'
import { exchangeOne, openSocket } from '../support/socket.js'

const secret = 'a secret of at least thirty-two bytes'
process.env.JWT_SECRET = secret
delete process.env.JWT_ALGORITHM

const body = `{"data":{"text":"${'x'.repeat(100)}"}}`
const head = `POST /api/v1/items HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${mintToken(validClaims(), { secret })}\r\n`
const create = `${head}Content-Length: ${body.length}\r\n\r\n${body}`

test('§8 a body whose connection ends before its turn to be read no longer counts as pending', async () => {
  const requests: IncomingMessage[] = []
  subscribe('http.server.request.start', (message) => {
    requests.push((message as { request: IncomingMessage }).request) // documented by Node.js
  })
  /** How many requests have reached the service. */
  let reached = 0
  const exceededLimit = () => {
    reached += 1
    if (reached === 2) requests[1]?.socket.destroy()
    return undefined
  }
  const store = createMemoryStore(10_000)
  const options = { ...readConfig({}, {}), version: '1.2.3', maxPendingBytes: body.length }
  const app = createApp(options, { store, log: pino({ level: 'silent' }), exceededLimit })
  after(() => app.stop({ timeout: 0 }))
  const url = new URL(`http://127.0.0.1:${await app.listen(0, '127.0.0.1')}`)

  await once(openSocket(url, create + create).resume(), 'close')
  assert.equal((await exchangeOne(url, create)).status, 201)
})
