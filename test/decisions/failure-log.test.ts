/** Failures come by the thousand: the log has few lines about them, and counts all. */

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { createMemoryStore } from '../../src/store/memory/store.js'
import { type LogLine, ownApp } from '../support/own-app.js'
import { type OwnService, ownService, ownTest } from '../support/own-service.js'
import { exchange, headOf } from '../support/socket.js'
import { until } from '../support/until.js'

ownTest(
  '§7 the log has one line a second with the count of failures, and the rest before SIGTERM',
  async () => {
    const own = await ownService({ MAX_STORE_BYTES: '1000' })
    let failed = await fail(own, 1)
    const first = await until('a line, without a second failure', () => own.log.find(isFailure))
    assert.deepEqual(
      [first.level, first.method, first.path, first.count],
      ['error', 'POST', '/api/v1/items', 1],
    )
    for (const end = Date.now() + 1_500; Date.now() < end; ) failed += await fail(own, 100)
    await until('a line with the rest, without another request', () => countIn(own) === failed)
    const times = own.log.filter(isFailure).map(({ time }) => Date.parse(String(time)))
    const elapsed = Math.max(...times) - Math.min(...times)
    assert.ok(times.length <= 2 + elapsed / 500, `${times.length} lines in ${elapsed} ms`)

    failed += await fail(own, 100)
    assert.deepEqual(await own.stop(), [0, null])
    assert.equal(countIn(own), failed)
  },
)

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

function isFailure({ error_code }: LogLine): boolean {
  return error_code === 'STORE_FULL'
}

/** The number of failures that the log is about. */
function countIn({ log }: OwnService): number {
  return log.filter(isFailure).reduce((sum, { count }) => sum + Number(count), 0)
}
