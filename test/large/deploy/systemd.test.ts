/** The unit of systemd. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { assertServesWithoutSecret } from '../../support/missing-secret.js'
import { ownProcess } from '../../support/own-process.js'
import { cli } from '../../support/own-service.js'
import { programTest } from '../../support/program-test.js'
import { root } from '../../support/tools.js'

/** Highest exposure that counts as hardened, in tenths: systemd itself calls 20 "OK", 100 "UNSAFE". */
const highestExposure = 20

/** A copy of the unit whose command exists on this machine. */
function unit(change = (text: string) => text): string {
  const text = readFileSync(join(root, 'deploy/item-store.service'), 'utf8')
  const command = '/usr/local/bin/item-store'
  assert.ok(text.includes(`ExecStart=${command} serve\n`))
  const file = join(mkdtempSync(join(tmpdir(), 'item-store-unit-')), 'item-store.service')
  writeFileSync(file, change(text.replace(command, process.execPath)))
  return file
}

function run(analyze: string, ...args: string[]) {
  const { status, stdout, stderr } = spawnSync(analyze, args, { encoding: 'utf8' })
  return { status, output: stdout + stderr }
}

programTest(
  'systemd-analyze',
  'deploy/item-store.service: systemd finds nothing wrong',
  (analyze) => {
    const { status, output } = run(analyze, 'verify', unit())
    assert.equal(status, 0, output)
    assert.doesNotMatch(output, /item-store\.service/, 'a warning')
    const misspelt = unit((text) => text.replace('ProtectHome', 'ProtectHone'))
    assert.match(run(analyze, 'verify', misspelt).output, /item-store\.service.*ProtectHone/)
  },
)

programTest(
  'systemd-analyze',
  'deploy/item-store.service: systemd counts it as hardened',
  (analyze) => {
    const check = (file: string) =>
      run(analyze, 'security', '--offline=yes', `--threshold=${highestExposure}`, file)
    const { status, output } = check(unit())
    assert.equal(status, 0, output)
    const open = unit((text) => text.replaceAll(/^(Protect|Private|Restrict|System|Cap).*\n/gm, ''))
    assert.notEqual(check(open).status, 0)
  },
)

test('deploy/item-store.service: §5.5 without its file of variables, the service runs and is unhealthy', async () => {
  const text = readFileSync(unit(), 'utf8')
  const value = (name: string) => new RegExp(`^${name}=(.*)$`, 'm').exec(text)?.[1] ?? assert.fail()
  assert.match(value('EnvironmentFile'), /^-\//, 'it may be missing (systemd.exec(5))')
  const entries = value('Environment').split(' ')
  const env = Object.fromEntries(entries.map((entry) => entry.split('=')))
  const [, ...args] = value('ExecStart').split(' ')
  const own = ownProcess([process.execPath, cli, ...args], {
    cwd: mkdtempSync(join(tmpdir(), 'item-store-')),
    env: { ...env, PORT: '0' },
  })
  await assertServesWithoutSecret(own)
})
