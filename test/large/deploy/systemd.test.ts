/** Tests of the systemd unit deploy/item-store.service. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { serviceAt } from '../../conformance/client.js'
import { cli } from '../../support/own-service.js'
import { outputOf, ownProcess, until } from '../../support/process.js'
import { emptyFolder, programTest, readText, root, v8Flags } from '../../support/tools.js'

const highestExposure = 20 // systemd-analyze rates 20 as "OK" and 100 as "UNSAFE"
const unit = readText('deploy/item-store.service')

programTest('systemd-analyze', 'deploy/item-store.service is valid and hardened', (analyze) => {
  assert.ok(
    unit.includes(
      `\nExecStart=/usr/bin/env node ${v8Flags.join(' ')} /usr/local/bin/item-store serve\n`,
    ),
  )
  assert.match(unit, /^EnvironmentFile=-\//m, 'the file may be missing (systemd.exec(5))')
  const file = join(emptyFolder(), 'item-store.service')
  writeFileSync(file, unit)
  const verified = spawnSync(analyze, ['verify', file], { encoding: 'utf8' })
  assert.equal(verified.status, 0, verified.stderr)
  assert.doesNotMatch(verified.stderr, /item-store\.service/, 'there is a warning')
  outputOf(analyze, ['security', '--offline=yes', `--threshold=${highestExposure}`, file])
})

const group = /^SupplementaryGroups=(.*)$/m.exec(unit)?.[1]
const [, variables = ''] = /^Environment=(.*)$/m.exec(unit) ?? []
const environment = Object.fromEntries(variables.split(' ').map((entry) => entry.split(/=(.*)/, 2)))
const secretFile = environment.JWT_SECRET_FILE

const guide = 'docs/how-to/deploy.md'
const [, section = ''] = readText(guide).split('\n## systemd\n')
const steps = /```\n(.*?)```/s.exec(section)?.[1] ?? ''
const [, rotation = ''] = readText(guide).split('\n## Rotate the secret\n')
const rotate = /`(printf [^`]*\/etc\/[^`]*)`/.exec(rotation)?.[1] ?? ''

/** Runs the guide's commands in a temporary copy of /etc. `systemctl` only enables the unit: systemd isn't running. */
const inOwnEtc = `
mount -t tmpfs tmpfs "$FOLDER" && cp -a /etc/. "$FOLDER" && mount --bind "$FOLDER" /etc
systemctl() { test "$1 $2" = "enable --now" && SYSTEMD_OFFLINE=1 command systemctl enable "$3" 2>&1; }
${steps}
stat --format='%U %G %a' ${secretFile}
test -L /etc/systemd/system/multi-user.target.wants/item-store.service
for groups in --clear-groups "--groups=$(getent group ${group} | cut -d: -f3)"; do
  as="setpriv --reuid=61184 --regid=61184 $groups --no-new-privs"
  $as cat ${secretFile} > /dev/null 2>&1 && echo readable || echo unreadable
done
exec $as env -i ${variables.replace(/PORT=\d+/, 'PORT=0')} LOG_LEVEL=info "$NODE" "$CLI" serve`

const canMount = spawnSync('unshare', ['--mount', 'true']).status === 0
const skip = !canMount && 'only root can mount a copy of /etc'
test(`${guide}: after the steps for systemd, the unit's user can read the secret, also after a change`, {
  skip,
}, async () => {
  const env = { ...process.env, FOLDER: emptyFolder(), NODE: process.execPath, CLI: cli }
  const shell = ['sh', '-ec', inOwnEtc] as const
  const own = ownProcess(['unshare', '--mount', '--propagation', 'private', ...shell], {
    cwd: root,
    env,
  })
  const output = await own.printed(/"msg":"listening on /)
  assert.match(output, new RegExp(`^root ${group} 640\nunreadable\nreadable\n`, 'm'))
  const [, url = ''] = /"msg":"listening on ([^"]*)"/.exec(output) ?? []
  const file = `/proc/${own.child.pid}/root${secretFile}`
  const old = readFileSync(file, 'utf8').trim()
  const baseUrl = new URL(`${url}/api/v1`)
  const statusWith = async (secret: string) =>
    (await serviceAt(baseUrl, secret).call('GET', '/items')).status
  assert.deepEqual([await statusWith(old), await statusWith('NEW')], [200, 401])

  const nsenter = ['--mount', `--target=${own.child.pid}`, 'sh', '-ec', rotate.replace('OLD', old)]
  assert.equal(spawnSync('nsenter', nsenter).status, 0)
  await until('the service accepts the new secret', async () => (await statusWith('NEW')) === 200)
  assert.equal(await statusWith(old), 200)
})
