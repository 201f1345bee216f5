/** What two services on one server answer is what a single register could have answered. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeWithRedis } from '../../support/redis.js'
import { checkHistories } from './histories.js'

describeWithRedis('two services on one server, with faults', () => {
  test('histories of single items are linearizable', async (t) => {
    const result = await checkHistories({ operations: 6000, seed: 1, pause: 300 })
    const { findings, faults, ...counts } = result
    t.diagnostic(JSON.stringify({ ...counts, faults: [...faults] }))
    assert.equal(findings.length, 0, findings[0])
    assert.ok(result.items > 20)
    assert.ok(result.exchanged > 100 && result.mismatched > 100, 'conditions made no difference')
    assert.equal(faults.size, 4, 'there was not every fault')
    assert.ok(result.unknown > 0 && result.refused > 0, 'the faults went unnoticed')
  })
})
