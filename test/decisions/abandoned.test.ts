/** Decisions on §8: connections that end while their requests wait leave nothing behind. The service runs in this process. */

import assert from 'node:assert/strict'
import { subscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { test } from 'node:test'
import { ownApp } from '../support/own-app.js'
import { exchangeOne, headOf, openSocket } from '../support/socket.js'

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
  const body = `{"data":{"text":"${'x'.repeat(100)}"}}`
  const app = await ownApp(
    { load: { exceededLimit, bodyReceived: () => undefined } },
    { maxPendingBytes: body.length },
  )
  const create = headOf(app, 'POST', '/items', `Content-Length: ${body.length}`) + body

  await once(openSocket(app.baseUrl, create + create).resume(), 'close')
  assert.equal((await exchangeOne(app.baseUrl, create)).status, 201)
})

test('§8 a body whose connection ends while it is checked is not stored, and no longer counts as pending', async () => {
  const body = `{"data":{${Array.from({ length: 10_000 }, (_, place) => `"${place}":1`)}}}`
  const app = await ownApp({}, { maxPendingBytes: 3 * body.length })
  const create = headOf(app, 'POST', '/items', `Content-Length: ${body.length}`)
  for (const end of [body.length, body.length - 1, 70_000, 20_000]) {
    for (let round = 0; round < 4; round += 1) {
      const socket = openSocket(app.baseUrl, create)
      socket.write(body.slice(0, end))
      const other = exchangeOne(app.baseUrl, headOf(app, 'GET', '/health'))
      socket.destroy()
      await Promise.all([once(socket, 'close'), other])
    }
  }
  let status = 503 // as long as the end of a connection has not been noticed
  while (status === 503) ({ status } = await exchangeOne(app.baseUrl, create + body))
  assert.equal(status, 201)
  const { text } = await exchangeOne(app.baseUrl, headOf(app, 'GET', '/items'))
  const stored = JSON.parse(text).data.length
  assert.ok(stored >= 1 && stored <= 5, String(stored)) // a complete one may have been in time
})
