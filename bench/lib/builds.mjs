/** Builds of other commits of the service, to measure two commits in one run. */

import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { root, run } from '../../scripts/ready.mjs'
import { fail } from './options.mjs'
import { scratch } from './processes.mjs'

/**
 * Builds the service as of a git revision, by that commit's own build command, in a folder that is
 * removed at the end of the run.
 * @param {string} revision anything that git takes for a commit: a hash, a tag, `main`, `HEAD~3`
 * @returns the abbreviated hash of the commit (`commit`) and the folder of the build (`folder`)
 */
export function buildRevision(revision) {
  const args = ['rev-parse', '--short', '--verify', '--quiet', '--end-of-options']
  const { stdout } = spawnSync('git', [...args, `${revision}^{commit}`], {
    cwd: root,
    encoding: 'utf8',
  })
  const commit = stdout?.trim() || fail(`--against takes a git revision, not ${revision}`)
  const folder = join(scratch, commit)
  mkdirSync(folder)
  run('git', ['archive', `--output=${folder}.tar`, commit])
  run('tar', ['-xf', `${folder}.tar`, '-C', folder])
  run(process.execPath, [join(folder, 'scripts/build.mjs')])
  return { commit, folder }
}
