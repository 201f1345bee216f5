import assert from 'node:assert/strict'
import { test } from 'node:test'
import { UsageError } from '../config/usage-error.js'
import { memoryWarning } from './memory.js'

const MiB = 1024 ** 2
const cases = [
  { idle: 90, memory: 1000, store: 500, verdict: 'serve' },
  { idle: 90, memory: 590, store: 500, verdict: 'serve' },
  { idle: 90, memory: 589, store: 500, verdict: 'warn' },
  { idle: 90, memory: 106, store: 1, verdict: 'serve' },
  { idle: 90, memory: 106, store: 100, verdict: 'warn' },
  { idle: 90, memory: 105, store: 1, verdict: 'refuse' },
  { idle: 90, memory: 1, store: 1, verdict: 'refuse' },
]

for (const { idle, memory, store, verdict } of cases) {
  test(`${idle} MiB idle, limits of ${memory} and ${store} for items: ${verdict}`, () => {
    const limits = { maxMemoryBytes: memory * MiB, maxStoreBytes: store * MiB }
    const check = () => memoryWarning(idle * MiB, limits)
    if (verdict === 'refuse') assert.throws(check, UsageError)
    else assert.equal(check() !== undefined, verdict === 'warn')
  })
}

test('the reasons have the numbers, in a form that can be typed', () => {
  const idleBytes = 90 * MiB - 1
  assert.throws(
    () => memoryWarning(idleBytes, { maxMemoryBytes: 60_000_000, maxStoreBytes: MiB }),
    {
      message:
        'MAX_MEMORY_BYTES is 60MB, but the idle process alone takes 90MiB: item requests would be refused; allow at least 106MiB',
    },
  )
  assert.equal(
    memoryWarning(idleBytes, { maxMemoryBytes: 200 * MiB, maxStoreBytes: 150 * MiB }),
    'MAX_MEMORY_BYTES is 200MiB, but the idle process alone takes 90MiB and MAX_STORE_BYTES is 150MiB: item requests may get 503 before the store is full',
  )
})
