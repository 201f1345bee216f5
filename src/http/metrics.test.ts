import assert from 'node:assert/strict'
import { METHODS } from 'node:http'
import { test } from 'node:test'
import type { Registry } from 'prom-client'
import { encodeItem } from '../../test/support/item-text.js'
import { followSecret } from '../auth/secret.js'
import { errorKinds } from '../interface/errors.js'
import { newItemId } from '../item/id.js'
import { createMemoryStore } from '../store/memory/store.js'
import { createMetrics } from './metrics.js'

type Measured = Parameters<typeof createMetrics>[0]

function measured(parts: Partial<Measured>): Measured {
  return { store: createMemoryStore(1000), signing: followSecret(() => 'a'), limits: [], ...parts }
}

function observedMetrics(...requests: object[]): Registry {
  const { registry, observe } = createMetrics(measured({}))
  for (const given of requests) {
    const plain = { request: { method: 'GET' }, response: { statusCode: 200 }, startedAt: 0 }
    observe({ ...plain, ...given } as Parameters<typeof observe>[0]) // all members that `observe` reads
  }
  return registry
}

test('item_store_used_bytes equals item_store_max_bytes when the store is full', async () => {
  const store = createMemoryStore(1000)
  const { registry } = createMetrics(measured({ store }))
  const used = async () =>
    Number(/^item_store_used_bytes (.*)$/m.exec(await registry.metrics())?.[1])
  const create = (length: number) => {
    const id = newItemId()
    const members = Buffer.from(`"a":"${'x'.repeat(length)}"`)
    store.create(id, encodeItem(id, { projectId: Buffer.from('null'), members }))
  }
  create(100)
  create(1100 - 2 * (await used()))
  assert.match(await registry.metrics(), /^item_store_max_bytes 1000$/m)
  assert.equal(await used(), 1000)
  assert.throws(() => create(1), { code: 'STORE_FULL' })
})

test('while the store does not respond, only the metrics of the store are missing', async () => {
  let isReachable = true
  const memory = createMemoryStore(1000)
  const size = () => (isReachable ? memory.size() : assert.fail('not to be reached'))
  const { registry } = createMetrics(measured({ store: { ...memory, size } }))
  assert.match(await registry.metrics(), /^item_store_items 0$/m)
  isReachable = false
  const metrics = await registry.metrics()
  assert.doesNotMatch(metrics, /^item_store_items /m)
  assert.match(metrics, /^process_cpu_seconds_total /m)
  isReachable = true
  assert.match(await registry.metrics(), /^item_store_items 0$/m)
})

test('the health of each subsystem is measured even while the store cannot be reached', async () => {
  let [isHealthy, secret]: [boolean, string | undefined] = [true, 'a']
  const store = { ...createMemoryStore(1000), size: assert.fail, healthy: () => isHealthy }
  const { registry } = createMetrics(measured({ store, signing: followSecret(() => secret) }))
  const health = async () => (await registry.metrics()).match(/^item_store_healthy\{.*/gm)
  const lines = (ofStore: number, ofAuth: number) => [
    `item_store_healthy{subsystem="store"} ${ofStore}`,
    `item_store_healthy{subsystem="auth"} ${ofAuth}`,
  ]
  assert.deepEqual(await health(), lines(1, 1))
  isHealthy = false
  assert.deepEqual(await health(), lines(0, 1))
  ;[isHealthy, secret] = [true, undefined]
  assert.deepEqual(await health(), lines(1, 0))
})

test('methods that no endpoint supports share the label "other"', async () => {
  const methods = [...METHODS, 'GET']
  const registry = observedMetrics(...methods.map((method) => ({ request: { method } })))
  const counter = /^item_store_requests_total\{.*method="(\w+)".* (\d+)$/gm
  const counts = [...(await registry.metrics()).matchAll(counter)].map(([, ...count]) => count)
  const known = { GET: '2', HEAD: '1', POST: '1', PUT: '1', DELETE: '1', OPTIONS: '1' }
  const expected = { ...known, other: String(METHODS.length - 6) }
  assert.deepEqual(Object.fromEntries(counts), expected)
})

test('an accepted token is counted even if the request fails; a refused token is counted by error code', async () => {
  const registry = observedMetrics(
    { token: {} },
    { token: {}, errorCode: 'VALIDATION_ERROR' },
    ...Object.keys(errorKinds).map((errorCode) => ({ errorCode })),
    {},
  )
  const lines = (await registry.metrics()).match(/(?<=^item_store_tokens_total).*$/gm)
  const outcomes = ['MISSING_TOKEN', 'TOKEN_EXPIRED', 'INVALID_TOKEN', 'AUTH_NOT_CONFIGURED']
  const refusals = outcomes.map((outcome) => `{outcome="${outcome}"} 1`)
  assert.deepEqual(lines, ['{outcome="accepted"} 2', ...refusals])
})
