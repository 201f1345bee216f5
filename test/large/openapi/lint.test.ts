/** The OpenAPI document against the rules of other people. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { cli } from '../../support/own-service.js'
import { toolCommand } from '../../support/tools.js'

const folder = mkdtempSync(join(tmpdir(), 'item-store-'))
const { stdout: printed } = spawnSync(process.execPath, [cli, 'openapi'], { encoding: 'utf8' })
writeFileSync(join(folder, 'openapi.json'), printed)
writeFileSync(join(folder, 'ruleset.json'), '{"extends":["spectral:oas"]}')

/** Each gives the problems that a linter has with a file, warnings and hints included. */
const linters = {
  "Redocly's recommended rules": (file: string) => {
    const args = ['lint', file, '--extends', 'recommended', '--format', 'json']
    const { problems }: { problems: { ruleId: string }[] } = JSON.parse(run('redocly', args))
    return problems.map(({ ruleId }) => ruleId)
  },
  "Spectral's oas rules": (file: string) => {
    const args = ['lint', file, '--ruleset', 'ruleset.json', '--format', 'json', '--quiet']
    const problems: { code: string }[] = JSON.parse(run('spectral', args))
    return problems.map(({ code }) => code)
  },
}

for (const [name, lint] of Object.entries(linters)) {
  test(`${name} have nothing to say about the document`, () => {
    assert.deepEqual(lint('openapi.json'), [])
  })
}

function run(tool: string, args: string[]): string {
  const { stdout, stderr } = spawnSync(process.execPath, [toolCommand(tool), ...args], {
    cwd: folder,
    env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
    encoding: 'utf8',
    timeout: 60_000,
  })
  assert.notEqual(stdout, '', stderr)
  return stdout
}
