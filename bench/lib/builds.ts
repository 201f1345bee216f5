/** Builds the service at a Git revision, so that a single run can compare two revisions. */

import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../../test/support/tools.js'
import { scratch } from './processes.js'

export function buildRevision(revision: string) {
  const run = (command: string, args: string[]) =>
    execFileSync(command, args, { cwd: root, stdio: ['ignore', 'pipe', 2], encoding: 'utf8' })
  const commit = run('git', ['rev-parse', '--short', `${revision}^{commit}`]).trim()
  const folder = join(scratch, commit)
  mkdirSync(folder)
  run('git', ['archive', `--output=${folder}.tar`, commit])
  run('tar', ['-xf', `${folder}.tar`, '-C', folder])
  run(process.execPath, [join(folder, 'scripts/build.mjs')])
  return { commit, folder }
}
