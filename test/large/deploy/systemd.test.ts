/** Tests of the systemd unit deploy/item-store.service. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { assertServesWithoutSecret } from '../../support/missing-secret.js'
import { ownProcess } from '../../support/own-process.js'
import { cli } from '../../support/own-service.js'
import { programTest } from '../../support/program-test.js'
import { emptyFolder } from '../../support/tarball.js'
import { readText } from '../../support/tools.js'

/** Maximum exposure level. systemd-analyze rates 20 as "OK" and 100 as "UNSAFE". */
const highestExposure = 20
const unit = readText('deploy/item-store.service')
const command = '/usr/local/bin/item-store'

programTest('systemd-analyze', 'deploy/item-store.service is valid and hardened', (analyze) => {
  const file = join(emptyFolder(), 'item-store.service')
  writeFileSync(file, unit.replace(command, process.execPath)) // the command may not be installed
  const run = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync(analyze, [...args, file], { encoding: 'utf8' })
    assert.equal(status, 0, stdout + stderr)
    return stdout + stderr
  }
  assert.doesNotMatch(run('verify'), /item-store\.service/, 'there is a warning')
  run('security', '--offline=yes', `--threshold=${highestExposure}`)
})

test('deploy/item-store.service: §5.5 without its EnvironmentFile, the service runs and is unhealthy', async () => {
  assert.match(unit, /^EnvironmentFile=-\//m, 'the file may be missing (systemd.exec(5))')
  assert.ok(unit.includes(`\nExecStart=${command} serve\n`))
  const [, variables = ''] = /^Environment=(.*)$/m.exec(unit) ?? []
  const entries = variables.split(' ').map((entry) => entry.split(/=(.*)/, 2))
  const env = { ...Object.fromEntries(entries), PORT: '0' }
  const own = ownProcess([process.execPath, cli, 'serve'], { cwd: emptyFolder(), env })
  await assertServesWithoutSecret(own)
})
