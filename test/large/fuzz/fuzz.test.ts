/** A fixed number of arbitrary conversations from a fixed seed; `npm run check -- fuzz` runs more of them. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ownProcess } from '../../support/own-process.js'
import { ownTest } from '../../support/own-service.js'
import { root } from '../../support/tools.js'

/** Descriptors and memory are read from /proc. */
const linuxTest = process.platform === 'linux' ? ownTest : test.skip

/**
 * Runs in a process of its own, which ends by `process.exit`: after a client has reset connections, Node.js may wait
 * for ever for one of its writes instead of ending the process (seen with 20 and 26).
 */
linuxTest(
  'conversations keep what was acknowledged, in order, and leave nothing behind',
  async (t) => {
    const { NODE_TEST_CONTEXT: _, ...env } = process.env
    const reporter = ['--test-reporter=tap', '--test-reporter-destination=/dev/null']
    const script = ['scripts/check.mjs', 'fuzz', '--seed', '1', '--conversations', '60']
    const own = ownProcess([process.execPath, ...reporter, ...script], { cwd: root, env })
    const [code] = await own.ended(600_000)
    const output = await own.printed(/^/)
    assert.equal(code, 0, output)
    assert.match(output, /^no finding$/m)
    for (const status of [200, 201, 204, 400, 401, 404, 405, 413, 422, 431]) {
      assert.match(output, new RegExp(`\\b${status}: [1-9]`), `no answer of status ${status}`)
    }
    t.diagnostic(output.trim().split('\n').at(-2) ?? '')
  },
)
