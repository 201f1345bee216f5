/** Fuzzes the service with random conversations from a fixed seed. */

import assert from 'node:assert/strict'
import { linuxTest } from '../../support/own-service.js'
import { ownProcess } from '../../support/process.js'
import { root } from '../../support/tools.js'

/** The fuzzer has its own process: after connection resets, Node.js 20 and 26 may only exit with `process.exit`. */
linuxTest('changes are kept in order, and no memory or descriptor is left in use', async (t) => {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const reporter = ['--test-reporter=tap', '--test-reporter-destination=/dev/null']
  const script = ['scripts/check.mjs', 'fuzz', '--seed', '1', '--conversations', '60']
  const own = ownProcess([process.execPath, ...reporter, ...script], { cwd: root, env })
  const [code] = await own.ended(600_000)
  const output = await own.printed(/^/)
  assert.equal(code, 0, output)
  assert.match(output, /^no finding$/m)
  for (const status of [200, 201, 204, 400, 401, 404, 405, 413, 422, 431]) {
    assert.match(output, new RegExp(`\\b${status}: [1-9]`), `no response of status ${status}`)
  }
  t.diagnostic(output.trim().split('\n').at(-2) ?? '')
})
