/** The conformance tests, as they are in the package. */

import assert from 'node:assert/strict'
import { join } from 'node:path'
import type { Service } from '../conformance/client.js'
import { type Command, ownProcess } from './own-process.js'
import { cli, ownService } from './own-service.js'
import { root } from './tools.js'

export interface Conformance {
  /** The exit code. */
  readonly status: number | null
  /** The titles of the tests. */
  readonly passed: readonly string[]
  readonly failed: readonly string[]
}

/** Runs `item-store conformance` against a service. */
export async function conformanceOf({ baseUrl, secret }: Service): Promise<Conformance> {
  const args = ['conformance', baseUrl.href, '--reporter', 'tap']
  return await report([process.execPath, cli, ...args], { JWT_SECRET: secret })
}

/** Runs only the tests of a clause, in the same way as the command; all of them take seconds. */
export async function clauseOf({ baseUrl, secret }: Service, clause: string): Promise<Conformance> {
  const only = `--test-name-pattern=${clause.replace('.', '\\.')}(?![.\\d])`
  const tests = join(root, 'dist/conformance-tests.js')
  return await report([process.execPath, '--test-reporter=tap', only, tests], {
    BASE_URL: baseUrl.href,
    JWT_SECRET: secret,
  })
}

async function report(command: Command, env: NodeJS.ProcessEnv): Promise<Conformance> {
  const { ended, printed } = ownProcess(command, { cwd: root, env })
  const [status] = await ended(120_000)
  const output = await printed(/^# duration_ms/m)
  const results = [...output.matchAll(/^(ok|not ok) \d+ - (.*)$/gm)]
  const titles = (result: string) =>
    results
      .filter(([, its, title = '']) => its === result && !title.includes(' # SKIP'))
      .map(([, , title = '']) => title)
  return { status, passed: titles('ok'), failed: titles('not ok') }
}

/** @param env settings of the service. */
export async function assertConforms(env: NodeJS.ProcessEnv): Promise<void> {
  const { status, passed, failed } = await conformanceOf(await ownService(env))
  assert.deepEqual({ status, failed }, { status: 0, failed: [] })
  assert.ok(passed.length > 100, `only ${passed.length} tests`)
}
