/** Runs the package's conformance tests. */

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Service } from '../conformance/client.js'
import { cli, ownService } from './own-service.js'
import { type Command, ownProcess } from './process.js'
import { root } from './tools.js'

export interface Conformance {
  readonly status: number | null
  readonly passed: readonly string[]
  readonly failed: readonly string[]
}

export async function conformanceOf({ baseUrl, secret }: Service): Promise<Conformance> {
  const args = ['conformance', baseUrl.href, '--reporter', 'tap']
  const { status, results } = await report([process.execPath, cli, ...args], { JWT_SECRET: secret })
  return outcomeOf(status, results)
}

const each = fileURLToPath(new URL('./conformance-of-each.js', import.meta.url))

/** Runs the tests of one clause against several services with the same secret, in one process. */
export async function clauseOf(
  services: readonly Service[],
  clause: string,
): Promise<Conformance[]> {
  const only = `--test-name-pattern=${clause.replace('.', '\\.')}(?![.\\d])`
  const tests = join(root, 'dist/conformance-tests.js')
  const urls = services.map(({ baseUrl }) => baseUrl.href)
  const command = [process.execPath, '--test-reporter=tap', only, each, tests, ...urls] as const
  const { status, results } = await report(command, { JWT_SECRET: services[0]?.secret })
  const count = results.length / services.length
  assert.ok(Number.isInteger(count), `${results.length} tests of ${services.length} services`)
  return services.map((_, n) => outcomeOf(status, results.slice(n * count, (n + 1) * count)))
}

async function report(command: Command, env: NodeJS.ProcessEnv) {
  const { ended, printed } = ownProcess(command, { cwd: root, env })
  const [status] = await ended(120_000)
  const output = await printed(/^# duration_ms/m)
  const lines = [...output.matchAll(/^(ok|not ok) \d+ - (?!.* # SKIP)(.*)$/gm)]
  const results = lines.map(([, its, title = '']) => ({ isOk: its === 'ok', title }))
  return { status, results }
}

function outcomeOf(
  status: number | null,
  results: { isOk: boolean; title: string }[],
): Conformance {
  const titles = (isOk: boolean) =>
    results.filter((result) => result.isOk === isOk).map(({ title }) => title)
  return { status, passed: titles(true), failed: titles(false) }
}

export async function assertConforms(env: NodeJS.ProcessEnv): Promise<void> {
  const { status, passed, failed } = await conformanceOf(await ownService(env))
  assert.deepEqual({ status, failed }, { status: 0, failed: [] })
  assert.ok(passed.length > 100, `only ${passed.length} tests`)
}
