/** Metrics that do not depend on the store stay there when it cannot be asked. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Registry } from 'prom-client'
import { createMemoryStore } from '../store/memory/store.js'
import { createMetrics } from './metrics.js'

test('without a response from the store, only its own metrics are missing', async () => {
  let isReachable = true
  const memory = createMemoryStore(1000)
  const { registries } = createMetrics(
    {
      ...memory,
      size() {
        if (isReachable) return memory.size()
        throw new Error('not to be reached')
      },
    },
    { count: 0 },
  )
  const registry = Registry.merge(registries)
  assert.match(await registry.metrics(), /^item_store_items 0$/m)
  isReachable = false
  const metrics = await registry.metrics()
  assert.doesNotMatch(metrics, /^item_store_items /m)
  assert.match(metrics, /^process_cpu_seconds_total /m)
  isReachable = true
  assert.match(await registry.metrics(), /^item_store_items 0$/m)
})
