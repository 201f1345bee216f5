/** Failures come by the thousand: the log has few lines about them, and counts all. */

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { createMemoryStore } from '../../src/store/memory/store.js'
import { type LogLine, ownApp } from '../support/own-app.js'
import { type OwnService, ownService, ownTest } from '../support/own-service.js'
import { freePort } from '../support/process.js'
import { exchange, headOf } from '../support/socket.js'
import { until } from '../support/until.js'

const failures: [title: string, env: () => Promise<NodeJS.ProcessEnv>, code: string][] = [
  ['a full store', async () => ({ MAX_STORE_BYTES: '1000' }), 'STORE_FULL'],
  [
    'a store that cannot be reached',
    async () => ({ STORE_URL: `redis://127.0.0.1:${await freePort()}` }),
    'STORE_UNAVAILABLE',
  ],
]
for (const [title, env, code] of failures) {
  ownTest(`§7 ${title}: the log has one line a second with the count of failures`, async () => {
    const own = await ownService(await env())
    let failed = await fail(own, 1)
    const first = await until('a line, without a second failure', () => linesOf(own, code)[0])
    assert.deepEqual(
      [first.level, first.method, first.path, first.count],
      ['error', 'POST', '/api/v1/items', 1],
    )
    for (const end = Date.now() + 1_500; Date.now() < end; ) failed += await fail(own, 100)
    await until('a line with the rest, without another request', () => {
      return countIn(linesOf(own, code)) === failed
    })
    const times = linesOf(own, code).map(({ time }) => Date.parse(String(time)))
    const elapsed = Math.max(...times) - Math.min(...times)
    assert.ok(times.length <= 2 + elapsed / 500, `${times.length} lines in ${elapsed} ms`)
  })

  ownTest(`§7 ${title}: the log has the count of failures before SIGTERM`, async () => {
    const own = await ownService(await env())
    const failed = await fail(own, 100)
    assert.deepEqual(await own.stop(), [0, null])
    assert.equal(countIn(linesOf(own, code)), failed)
  })
}

test('§7 unexpected errors with different messages: each has its stack in the log, up to a limit', async () => {
  const { log, call } = await ownApp({
    store: {
      ...createMemoryStore(1000),
      read: () => Promise.reject(new Error('one')),
      list: () => Promise.reject(new Error('two')),
    },
  })
  for (const path of ['/items', `/items/${randomUUID()}`]) {
    assert.equal((await call('GET', path)).status, 500)
  }
  assert.match(JSON.stringify(log[0]?.err), /"stack":"Error: two\\n/)
  assert.match(JSON.stringify(log[1]?.err), /"stack":"Error: one\\n/)
})

/** Sends creates that fail. @returns their number. */
async function fail(own: OwnService, count: number): Promise<number> {
  const body = JSON.stringify({ data: { pad: 'x'.repeat(1000) } })
  const request = headOf(own, 'POST', '/items', `Content-Length: ${body.length}`) + body
  const answers = await exchange(own.baseUrl, request.repeat(count), count)
  for (const { status } of answers) assert.ok(status >= 500, String(status))
  return answers.length
}

function linesOf({ log }: OwnService, code: string): LogLine[] {
  return log.filter(({ error_code }) => error_code === code)
}

/** The number of failures that the lines are about. */
function countIn(lines: readonly LogLine[]): number {
  return lines.reduce((sum, { count }) => sum + Number(count), 0)
}
