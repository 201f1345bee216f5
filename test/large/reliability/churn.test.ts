/** What is left of the memory, and of the room in the store, after items of all sizes have come and gone. */

import assert from 'node:assert/strict'
import { churn } from '../../support/churn.js'
import { ownService, ownTest } from '../../support/own-service.js'

const mebibyte = 1024 ** 2

ownTest('after churn, memory is given back, and the store can be filled and listed', async () => {
  const maxStoreBytes = 12 * mebibyte
  const own = await ownService({
    MAX_MEMORY_BYTES: String(200 * mebibyte),
    MAX_STORE_BYTES: String(maxStoreBytes),
  })
  const { idle, after, filled, end, listed } = await churn(own, { seconds: 4, maxStoreBytes })
  // The check has the narrower bound: a busy machine may have made fewer changes, or collect later.
  assert.ok(after < 1.6 * idle, `${after} bytes after the churn, ${idle} before`)
  assert.deepEqual(
    { end, listed, isFull: filled > 0.9 * maxStoreBytes },
    { end: 507, listed: 200, isFull: true },
  )
})
