import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Exchange } from '../http/exchange.js'
import { createMemoryStore } from '../store/memory/store.js'
import { createControlRoutes } from './control.js'
import { createDoubles, type Doubles } from './doubles.js'
import { parseDelay, parseFailures } from './options.js'

function exchangeOf(doubles: Doubles, path: string): Exchange {
  const response = Object.assign(new EventEmitter(), { statusCode: 200 })
  const request = { method: 'GET', headers: {}, socket: { destroy: () => undefined } }
  const exchange = { request, response, path } as object as Exchange // doubles use no other members
  doubles.arrived(exchange)
  return exchange
}

test('--delay accepts a time or a range of times', () => {
  assert.deepEqual(parseDelay('200'), { min: 200, max: 200 })
  assert.deepEqual(parseDelay('0-1s'), { min: 0, max: 1000 })
  for (const text of ['', 'x', '-', '200-', '-200', '800-200', '1-2-3', '1.5', '61s', '1h']) {
    assert.throws(() => parseDelay(text), { name: 'UsageError' }, text)
  }
})

test('--failures accepts a list for the first requests, or rates', () => {
  assert.deepEqual(parseFailures('503,cut'), [503, 'cut'])
  assert.deepEqual(parseFailures('503=0.1,cut=1e-1'), { 503: 0.1, cut: 0.1 })
  for (const text of ['', '404', '503=2', '503=', '503,cut=0.1', '503=0.6,cut=0.6', '503=1=1']) {
    assert.throws(() => parseFailures(text), { name: 'UsageError' }, text)
  }
})

test('delayed requests that a reset ends together are answered over several turns', async () => {
  const doubles = createDoubles({ delay: 60_000 })
  const handle = doubles.withFaults(
    () => assert.fail('the store was reset'),
    () => assert.fail('no body is read'),
  )
  let ended = 0
  for (let n = 0; n < 200; n += 1) {
    void Promise.resolve(handle(exchangeOf(doubles, '/api/v1/items'))).catch(() => (ended += 1))
  }
  doubles.reset()
  for (let before = 0; ended < 200; before = ended) {
    await nextTurn()
    assert.ok(ended - before <= 50, `${ended - before} in one turn`)
  }
})

test('at most 100 failures that are not used up, and 100 delays, are kept until the next reset', () => {
  const doubles = createDoubles({})
  for (const set of [() => doubles.fail([503]), () => doubles.delay(1)]) {
    for (let n = 0; n < 100; n += 1) {
      doubles.fail([])
      set()
    }
    assert.throws(set, { name: 'UsageError', message: /^100 .* are set already/ })
    doubles.reset()
    set()
  }
})

test('recorded requests are sent as they are encoded, not all at once', async () => {
  const doubles = createDoubles({ recordBodies: true })
  let encoded = 0
  const body = {
    length: 200_000,
    slice() {
      encoded += 1
      return 'x'.repeat(64 * 1024)
    },
  }
  const seen: number[] = []
  const exchange = exchangeOf(doubles, '/control/requests')
  const write = () => seen.push(encoded)
  Object.assign(exchange.response, { req: { complete: true }, writeHead: write, write, end: write })
  const connection = { socket: {}, beginResponse: () => true, markActive: () => undefined }
  const ignore = () => undefined
  Object.assign(exchange, { connection, releaseBody: ignore, countUntilClosed: ignore })
  const requests = [{ body }] as object as ReturnType<Doubles['requests']> // other members are only copied
  const listed = { ...doubles, requests: () => requests }
  const routes = createControlRoutes(createMemoryStore(0), listed, () => assert.fail('no body'), [])
  await routes.find(({ path }) => path.endsWith('/requests'))?.handlers.GET?.(exchange)
  assert.deepEqual(seen.slice(0, 3), [0, 0, 1])
  assert.equal(seen.at(-1), 4)
})

const recordings: [many: number, bodyBytes: number, kept: number][] = [
  [10_001, 0, 10_000],
  [70, 2 ** 20, 63], // paths and bodies of 64 Mi characters in total
]
for (const [many, bodyBytes, kept] of recordings) {
  test(`of ${many} requests with bodies of ${bodyBytes} bytes, the last ${kept} are recorded`, () => {
    const doubles = createDoubles({ recordBodies: true })
    for (let n = 1; n <= many; n += 1) {
      const exchange = exchangeOf(doubles, `/${n}`)
      doubles.bodyReceived(exchange, Buffer.alloc(bodyBytes))
      exchange.response.emit('finish')
    }
    const paths = doubles.requests().map(({ path }) => path)
    assert.deepEqual([paths.length, paths.at(-1)], [kept, `/${many}`])
  })
}
