/** The conformance tests, run against a service on an engine. */

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { ownProcess } from './own-process.js'
import { ownService } from './own-service.js'
import { root } from './tools.js'

/** @param env settings of the service. */
export async function assertConforms(env: NodeJS.ProcessEnv): Promise<void> {
  const JWT_SECRET = randomBytes(32).toString('base64url')
  const service = await ownService({ ...env, JWT_SECRET })
  const folder = join(root, 'build/test/conformance')
  const files = readdirSync(folder).filter((file) => file.endsWith('.test.js'))
  const tests = ownProcess(
    [process.execPath, '--test', '--test-reporter=tap', ...files.map((f) => join(folder, f))],
    { cwd: root, env: { BASE_URL: service.baseUrl.href, JWT_SECRET } },
  )
  const output = await tests.printed(/^# duration_ms/m)
  const failures = output.split('\n').filter((line) => /^ *not ok/.test(line))
  assert.deepEqual(failures, [])
  assert.deepEqual(await tests.ended(), [0, null])
  assert.ok(Number(/^# pass (\d+)$/m.exec(output)?.[1]) > 100, output)
}
