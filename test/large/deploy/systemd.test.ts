/** Tests of the systemd unit deploy/item-store.service. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
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

/** Returns a copy of the unit that runs Node.js, because the command may not be installed. */
function unit(): string {
  const text = readText('deploy/item-store.service')
  const command = '/usr/local/bin/item-store'
  assert.ok(text.includes(`ExecStart=${command} serve\n`))
  const file = join(emptyFolder(), 'item-store.service')
  writeFileSync(file, text.replace(command, process.execPath))
  return file
}

programTest('systemd-analyze', 'deploy/item-store.service is valid and hardened', (analyze) => {
  const run = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync(analyze, args, { encoding: 'utf8' })
    assert.equal(status, 0, stdout + stderr)
    return stdout + stderr
  }
  assert.doesNotMatch(run('verify', unit()), /item-store\.service/, 'there is a warning')
  run('security', '--offline=yes', `--threshold=${highestExposure}`, unit())
})

test('deploy/item-store.service: §5.5 without its EnvironmentFile, the service runs and is unhealthy', async () => {
  const text = readFileSync(unit(), 'utf8')
  const value = (name: string) => new RegExp(`^${name}=(.*)$`, 'm').exec(text)?.[1] ?? assert.fail()
  assert.match(value('EnvironmentFile'), /^-\//, 'the file may be missing (systemd.exec(5))')
  const entries = value('Environment').split(' ')
  const env = Object.fromEntries(entries.map((entry) => entry.split(/=(.*)/, 2)))
  const [, ...args] = value('ExecStart').split(' ')
  const own = ownProcess([process.execPath, cli, ...args], {
    cwd: emptyFolder(),
    env: { ...env, PORT: '0' },
  })
  await assertServesWithoutSecret(own)
})
