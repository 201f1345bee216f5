/** The conformance tests, run against a service on an engine. */

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ownProcess } from './own-process.js'
import { ownService } from './own-service.js'
import { root } from './tools.js'

/** @param env settings of the service. */
export async function assertConforms(env: NodeJS.ProcessEnv): Promise<void> {
  const JWT_SECRET = randomBytes(32).toString('base64url')
  const service = await ownService({ ...env, JWT_SECRET })
  const folder = join(root, 'build/test/conformance')
  const files = readdirSync(folder).filter((file) => file.endsWith('.test.js'))
  // All in one process: they only send requests, and share nothing else.
  const program = files.map((file) => `import '${pathToFileURL(join(folder, file))}'`).join('\n')
  const tests = ownProcess(
    [process.execPath, '--test-reporter=tap', '--input-type=module', '--eval', program],
    { cwd: root, env: { BASE_URL: service.baseUrl.href, JWT_SECRET } },
  )
  const output = await tests.printed(/^# duration_ms/m)
  const failures = output.split('\n').filter((line) => /^ *not ok/.test(line))
  assert.deepEqual(failures, [])
  assert.deepEqual(await tests.ended(), [0, null])
  assert.ok(Number(/^# pass (\d+)$/m.exec(output)?.[1]) > 100, output)
}
