/** Builds of other commits of the service, to measure two commits in one run. */

import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../../scripts/ready.mjs'
import { fail } from './options.mjs'
import { scratch } from './processes.mjs'

/**
 * Builds the service as of a git revision, by that commit's own build command, in a folder that is
 * removed at the end of the run.
 * @param revision anything that git takes for a commit: a hash, a tag, `main`, `HEAD~3`.
 * @returns the abbreviated hash of the commit (`commit`) and the folder of the build (`folder`).
 */
export function buildRevision(revision) {
  const commit = commitOf(revision)
  const folder = join(scratch, commit)
  const archive = `${folder}.tar`
  mkdirSync(folder)
  const steps = [
    ['git', ['archive', `--output=${archive}`, commit], root],
    ['tar', ['-xf', archive], folder],
    [process.execPath, ['scripts/build.mjs'], folder],
  ]
  if (!steps.every(succeeds)) fail(`the build of commit ${commit} failed, see above`)
  return { commit, folder }
}

function commitOf(revision) {
  const args = ['rev-parse', '--short', '--verify', '--quiet', '--end-of-options']
  const { stdout } = spawnSync('git', [...args, `${revision}^{commit}`], {
    cwd: root,
    encoding: 'utf8',
  })
  return stdout?.trim() || fail(`--against takes a git revision, not ${revision}`)
}

/** Output goes to standard error, so that standard output is that of the benchmark alone. */
function succeeds([command, args, cwd]) {
  const { status, error } = spawnSync(command, args, { cwd, stdio: ['ignore', 2, 2] })
  if (error) throw error
  return status === 0
}
