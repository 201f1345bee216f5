import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ItemStoreError } from './item-store-error.js'
import { retryDelay } from './sender.js'

const overloaded = new ItemStoreError('later', { response: new Response('', { status: 503 }) })
const noLimits = { retries: Number.POSITIVE_INFINITY, timeout: Number.POSITIVE_INFINITY }

const cases = [
  { title: 'first', attempt: 0, from: 100, to: 200 },
  { title: 'fourth', attempt: 3, from: 800, to: 1_600 },
  { title: 'hundredth', attempt: 99, from: 2_500, to: 5_000 },
]
for (const { title, attempt, from, to } of cases) {
  test(`clients spread their ${title} retry over ${from} to ${to} ms`, () => {
    const delay = () => retryDelay(overloaded, false, attempt, noLimits) ?? Number.NaN
    const all = Array.from({ length: 1_000 }, delay)
    const [first, last, spread] = [Math.min(...all), Math.max(...all), to - from]
    assert.ok(first >= from && first < from + spread / 4, String(first))
    assert.ok(last <= to && last > to - spread / 4, String(last))
  })
}
