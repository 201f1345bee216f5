/** Tests `npm version` in a copy of the files that the command changes. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { outputOf } from '../../support/process.js'
import { npm } from '../../support/tarball.js'
import { cleanEnvironment, emptyFolder, programTest, root } from '../../support/tools.js'

const files = ['package.json', 'package-lock.json', 'CHANGELOG.md']

function copyIn(git: string, changes: string, owner = 'someone') {
  const folder = emptyFolder()
  for (const file of [...files, 'scripts/version.mjs']) {
    cpSync(join(root, file), join(folder, file))
  }
  const run = (...args: string[]) => outputOf(git, args, { cwd: folder }).trim()
  run('init', '--quiet')
  run('config', 'user.name', 'a')
  run('config', 'user.email', 'a@example.org')
  writeFileSync(join(folder, 'CHANGELOG.md'), changes)
  const manifest = readFileSync(join(folder, 'package.json'), 'utf8')
  writeFileSync(join(folder, 'package.json'), manifest.replaceAll('/OWNER/', `/${owner}/`))
  run('add', '.')
  run('commit', '--quiet', '--message', 'a')
  return { folder, run, read: (file: string) => readFileSync(join(folder, file), 'utf8') }
}

const unreleased = '# Changelog\n\n## Unreleased\n\n- A change.\n\n## 0.0.1 (2020-01-01)\n'

programTest('git', 'npm version dates the unreleased changes, commits and tags', (git) => {
  const { folder, run, read } = copyIn(git, unreleased)
  npm(folder, 'version', '12.34.56')
  assert.equal(run('status', '--porcelain'), '')
  assert.equal(run('describe', '--exact-match'), 'v12.34.56')
  const changed = run('diff', '--name-only', 'HEAD~1').split('\n')
  assert.deepEqual(changed.sort(), files.toSorted())
  const entry = `## 12.34.56 (${new Date().toISOString().slice(0, 10)})`
  const expected = unreleased.replace('Unreleased\n', `Unreleased\n\n${entry}\n`)
  assert.equal(read('CHANGELOG.md'), expected)
})

const empty = '# Changelog\n\n## Unreleased\n\n## 0.0.1 (2020-01-01)\n'

for (const [without, problem, changes, owner] of [
  ['unreleased changes', /npm version: CHANGELOG\.md has no unreleased changes/, empty, 'someone'],
  ['a repository in package.json', /names no repository yet; replace OWNER/, unreleased, 'OWNER'],
] as const) {
  programTest('git', `npm version fails, and commits nothing, without ${without}`, (git) => {
    const { folder, run } = copyIn(git, changes, owner)
    const options = { cwd: folder, env: cleanEnvironment(), encoding: 'utf8' } as const
    const { status, stderr } = spawnSync('npm', ['version', 'minor'], options)
    assert.notEqual(status, 0)
    assert.match(stderr, problem)
    assert.equal(run('rev-list', '--count', 'HEAD'), '1')
    assert.equal(run('tag'), '')
  })
}
