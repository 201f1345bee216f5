import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ItemStoreError } from './item-store-error.js'
import { retryDelay } from './sender.js'

const overloaded = new ItemStoreError('later', { response: new Response('', { status: 503 }) })
const noLimits = { retries: Number.POSITIVE_INFINITY, timeout: Number.POSITIVE_INFINITY }

test('the delay before a retry is random, and grows to at most 5 seconds', () => {
  for (const [retries, longest] of [
    [0, 200],
    [3, 1_600],
    [99, 5_000],
  ] as const) {
    const delay = () => retryDelay(overloaded, false, retries, noLimits) ?? Number.NaN
    const all = Array.from({ length: 1_000 }, delay)
    const [least, most] = [Math.min(...all), Math.max(...all)]
    assert.ok(least >= 0.5 * longest && least < 0.6 * longest, String(least))
    assert.ok(most <= longest && most > 0.9 * longest, String(most))
  }
})
