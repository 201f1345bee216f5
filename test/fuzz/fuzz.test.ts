/** Whole conversations, by a fixed seed; `npm run fuzz` has them without end. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ownTest } from '../support/own-service.js'
import { fuzz } from './fuzz.js'

/** Descriptors and memory are read from /proc. */
const linuxTest = process.platform === 'linux' ? ownTest : test.skip

linuxTest(
  'conversations keep what was acknowledged, in order, and leave nothing behind',
  async (t) => {
    const { finding, conversations, requests, statuses } = await fuzz({
      seed: 1,
      conversations: 60,
    })
    assert.equal(finding, undefined)
    const counts = [...statuses].sort(([a], [b]) => a - b)
    t.diagnostic(
      `${conversations} conversations, ${requests} requests; answers: ${JSON.stringify(counts)}`,
    )
    for (const status of [200, 201, 204, 400, 401, 404, 405, 413, 422, 431]) {
      assert.ok((statuses.get(status) ?? 0) > 0, `no answer of status ${status}`)
    }
  },
)
