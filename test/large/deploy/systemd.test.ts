/** Tests of the systemd unit deploy/item-store.service. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { outputOf } from '../../support/process.js'
import { emptyFolder, programTest, readText, root, v8Flags } from '../../support/tools.js'

const highestExposure = 20 // systemd-analyze rates 20 as "OK" and 100 as "UNSAFE"
const unit = readText('deploy/item-store.service')

programTest('systemd-analyze', 'deploy/item-store.service is valid and hardened', (analyze) => {
  const command = `env node ${v8Flags.join(' ')} /usr/local/bin/item-store serve`
  assert.ok(unit.includes(`\nExecStart=/usr/bin/${command}\n`))
  assert.match(unit, /^EnvironmentFile=-\//m, 'the file may be missing (systemd.exec(5))')
  const file = join(emptyFolder(), 'item-store.service')
  writeFileSync(file, unit)
  const verified = spawnSync(analyze, ['verify', file], { encoding: 'utf8' })
  assert.equal(verified.status, 0, verified.stderr)
  assert.doesNotMatch(verified.stderr, /item-store\.service/, 'there is a warning')
  outputOf(analyze, ['security', '--offline=yes', `--threshold=${highestExposure}`, file])
})

const guide = 'docs/how-to/deploy.md'
const [, section = ''] = readText(guide).split('\n## systemd\n')
const steps = /```\n(.*?)```/s.exec(section)?.[1] ?? assert.fail()
const rotate = /`(printf [^`]*\/etc\/[^`]*)`/.exec(readText(guide))?.[1] ?? assert.fail()
const group = /^SupplementaryGroups=(.*)$/m.exec(unit)?.[1]
const file = /^Environment=.*\bJWT_SECRET_FILE=(\S+)/m.exec(unit)?.[1]

/** Runs the guide's commands in a temporary copy of /etc. `systemctl` only enables the unit: systemd isn't running. */
const inOwnEtc = `
mount -t tmpfs tmpfs "$FOLDER" && cp -a /etc/. "$FOLDER" && mount --bind "$FOLDER" /etc
systemctl() { test "$1 $2" = "enable --now" && SYSTEMD_OFFLINE=1 command systemctl enable "$3" 2>&1; }
check() {
  stat --format='%U %G %a' ${file}
  for groups in --clear-groups "--groups=$(getent group ${group} | cut -d: -f3)"; do
    setpriv --reuid=61184 --regid=61184 $groups --no-new-privs cat ${file} 2> /dev/null | wc -l
  done
}
${steps}
test -L /etc/systemd/system/multi-user.target.wants/item-store.service
check
${rotate}
check`

const skip = spawnSync('unshare', ['--mount', 'true']).status !== 0 && 'only root can mount'
test(`${guide}: after the steps for systemd, only the unit's group can read the secret, also after a change`, {
  skip,
}, () => {
  const options = { cwd: root, env: { ...process.env, FOLDER: emptyFolder() } }
  const args = ['--mount', '--propagation', 'private', 'sh', '-ec', inOwnEtc]
  const rights = `root ${group} 640\n0\n`
  assert.ok(outputOf('unshare', args, options).endsWith(`${rights}1\n${rights}2\n`))
})
