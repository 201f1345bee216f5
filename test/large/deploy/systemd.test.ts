/** The unit of systemd. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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
