/** How the app stops inside another program: at once, with nothing left behind and no request cut short. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { pino } from 'pino'
import { createApp } from '../src/app.js'
import { readConfig } from '../src/read-config.js'
import { createMemoryStore } from '../src/store/memory/store.js'

process.env.JWT_SECRET = 'a secret of at least thirty-two bytes'
const options = { ...readConfig({}, {}), version: '0.0.0' }

function newApp() {
  return createApp(options, { store: createMemoryStore(1_000_000), log: pino({ level: 'silent' }) })
}

/** What keeps a process running, but for the pipes and requests of the test runner itself. */
function resources(): string[] {
  const all = process.getActiveResourcesInfo()
  return all.filter((name) => /TCP|Timeout|Immediate/.test(name)).sort()
}

/** Sends a health check over a connection that is kept. */
async function checkHealth(port: number, agent: Agent): Promise<void> {
  const sent = request({ port, host: '127.0.0.1', path: '/api/v1/health', agent }).end()
  const [response] = await once(sent, 'response')
  await once(response.resume(), 'end')
}

test('an idle connection is closed at once, and nothing is left behind', async () => {
  const before = resources()
  const app = newApp()
  const port = await app.listen(0, '127.0.0.1')
  const agent = new Agent({ keepAlive: true })
  await checkHealth(port, agent)

  let isStopped = false
  const stopped = app.stop({ timeout: 60_000 }).then(() => {
    isStopped = true
  })
  let turns = 0
  for (; !isStopped && turns < 1000; turns += 1) await nextTurn()
  await stopped
  // Turns of the event loop, not time: a wait for a timer takes thousands of them.
  assert.ok(turns < 1000, `${turns} turns of the event loop`)
  agent.destroy()
  await nextTurn()
  assert.deepEqual(resources(), before)
})

test('a request that was sent before the stop is answered, on any connection', async () => {
  const app = newApp()
  const port = await app.listen(0, '127.0.0.1')
  const health = 'GET /api/v1/health HTTP/1.1\r\nHost: a\r\n\r\n'
  const used = connect(port, '127.0.0.1')
  used.write(health)
  await once(used, 'data')
  const fresh = connect(port, '127.0.0.1')
  await once(fresh, 'connect')

  const answers = [used, fresh].map((socket) => once(socket, 'data'))
  for (const socket of [used, fresh]) socket.write(health)
  await app.stop({ timeout: 60_000 })
  for (const [answer] of await Promise.all(answers)) {
    assert.match(String(answer), /^HTTP\/1\.1 200 OK\r\n.*\r\nConnection: close\r\n/s)
  }
})

test('an app that never listened stops too', async () => {
  await newApp().stop({ timeout: 60_000 })
})
