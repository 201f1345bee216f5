import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ItemStoreError } from './item-store-error.js'
import { retryDelay } from './sender.js'

const overloaded = new ItemStoreError('later', { response: new Response('', { status: 503 }) })
const asked = new ItemStoreError('later', {
  response: new Response('', { status: 503, headers: { 'retry-after': '2' } }),
})

const noLimits = { retries: Number.POSITIVE_INFINITY, timeout: Number.POSITIVE_INFINITY }

function delays(error: unknown, attempt: number): number[] {
  return Array.from(
    { length: 1_000 },
    () => retryDelay(error, false, attempt, noLimits) ?? Number.NaN,
  ).sort((one, other) => one - other)
}

const cases = [
  { title: 'first retry', error: overloaded, attempt: 0, from: 100, to: 200 },
  { title: 'second retry', error: overloaded, attempt: 1, from: 200, to: 400 },
  { title: 'fourth retry', error: overloaded, attempt: 3, from: 800, to: 1_600 },
  { title: 'hundredth retry', error: overloaded, attempt: 99, from: 2_500, to: 5_000 },
  { title: 'first retry after Retry-After: 2', error: asked, attempt: 0, from: 2_100, to: 2_200 },
]
for (const { title, error, attempt, from, to } of cases) {
  test(`clients spread their ${title} over ${from} to ${to} ms`, () => {
    const all = delays(error, attempt)
    const spread = to - from
    const [first = 0, last = 0] = [all[0], all.at(-1)]
    assert.ok(first >= from && first < from + spread / 4, String(first))
    assert.ok(last <= to && last > to - spread / 4, String(last))
  })
}
