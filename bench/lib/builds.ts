/** Builds the service at another commit, so that a single run can compare two commits. */

import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../../test/support/tools.js'
import { fail } from './options.js'
import { scratch } from './processes.js'

/** Builds a Git revision. Returns the hash of the commit and the folder of the build. */
export function buildRevision(revision: string) {
  const args = ['rev-parse', '--short', '--verify', '--quiet', '--end-of-options']
  const { stdout } = spawnSync('git', [...args, `${revision}^{commit}`], {
    cwd: root,
    encoding: 'utf8',
  })
  const commit = stdout?.trim() || fail(`--against takes a git revision, not ${revision}`)
  const folder = join(scratch, commit)
  mkdirSync(folder)
  const run = (command: string, commandArgs: string[]) =>
    execFileSync(command, commandArgs, { cwd: root, stdio: ['ignore', 2, 2] })
  run('git', ['archive', `--output=${folder}.tar`, commit])
  run('tar', ['-xf', `${folder}.tar`, '-C', folder])
  run(process.execPath, [join(folder, 'scripts/build.mjs')])
  return { commit, folder }
}
