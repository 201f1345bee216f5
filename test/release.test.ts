/** `npm run release`, in a copy of the repository whose `.ci/run` takes no time. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { before, test } from 'node:test'
import { cleanEnvironment, filesIn } from './support/tarball.js'
import { root } from './support/tools.js'

const folder = join(mkdtempSync(join(tmpdir(), 'item-store-release-')), 'repository')
const env = {
  ...cleanEnvironment(),
  GIT_CONFIG_GLOBAL: '/dev/null', // hooks and signatures of whoever runs the tests
  GIT_AUTHOR_NAME: 'A',
  GIT_AUTHOR_EMAIL: 'a@example.org',
  GIT_COMMITTER_NAME: 'A',
  GIT_COMMITTER_EMAIL: 'a@example.org',
}
const [major = 0, minor = 0, patch = 0] = versionIn(root).split('.').map(Number)
const next = `${major}.${minor + 1}.0`

function run(command: string, ...args: string[]) {
  return spawnSync(command, args, { cwd: folder, env, encoding: 'utf8', timeout: 150_000 })
}

function git(...args: string[]): string {
  const { status, stdout, stderr } = run('git', ...args)
  assert.equal(status, 0, stderr)
  return stdout.trim()
}

function release(...args: string[]) {
  return run(process.execPath, 'scripts/release.mjs', ...args)
}

function read(file: string): string {
  return readFileSync(join(folder, file), 'utf8')
}

function versionIn(folder: string): string {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).version
}

/** Everything that a release may change. */
function state() {
  return {
    head: git('rev-parse', 'HEAD'),
    tags: git('tag'),
    status: git('status', '--porcelain'),
    hasFolder: existsSync(join(folder, 'release')),
  }
}

/** Commits another `.ci/run`. */
function withChecks(script: string): void {
  writeFileSync(join(folder, '.ci/run'), `#!/usr/bin/env bash\n${script}\n`)
  git('commit', '-q', '-m', 'Other checks', '.ci/run')
}

before(() => {
  const left = new Set(['.git', 'node_modules', 'build', 'dist', 'release', '.env'])
  cpSync(root, folder, {
    recursive: true,
    filter: (path) =>
      !relative(root, path)
        .split(/[\\/]/)
        .some((name) => left.has(name)),
  })
  git('init', '-q', '-b', 'main')
  git('add', '--all')
  git('commit', '-q', '-m', 'The project')
  withChecks('echo "the checks run" >&2')
})

const wrong = [
  { args: [], says: /^npm run release: expected major, minor, patch/ },
  { args: ['huge'], says: /^npm run release: expected major, minor, patch/ },
  { args: ['minor', 'patch'], says: /^npm run release: expected major, minor, patch/ },
  { args: ['minor', '--fast'], says: /^npm run release: Unknown option '--fast'/ },
]
for (const { args, says } of wrong) {
  test(`release ${args.join(' ')}: refused, before any check`, () => {
    const { status, stderr } = release(...args)
    assert.match(stderr, says)
    assert.equal(status, 1)
  })
}

/** What keeps a version from being released, and how to have it and be rid of it. */
const obstacles = [
  {
    what: 'another branch',
    make: () => git('switch', '-q', '-c', 'other'),
    undo: () => git('switch', '-q', 'main'),
    says: /the branch is other; expected main/,
  },
  {
    what: 'a file that is not committed',
    make: () => writeFileSync(join(folder, 'notes.md'), ''),
    undo: () => git('clean', '-q', '-f', 'notes.md'),
    says: /not clean; commit or remove:\n\?\? notes\.md/,
  },
  {
    what: 'a tag that is there',
    make: () => git('tag', `v${next}`),
    undo: () => git('tag', '-d', `v${next}`),
    says: /v\d+\.\d+\.0 is tagged already/,
  },
  {
    what: 'no changes',
    make: () => {
      writeFileSync(
        join(folder, 'CHANGELOG.md'),
        '# Changelog\n\n## Unreleased\n\n## 0.0.1\n\n- All.\n',
      )
      git('commit', '-q', '-m', 'No changes', 'CHANGELOG.md')
    },
    undo: () => git('reset', '-q', '--hard', 'HEAD~1'),
    says: /CHANGELOG.md lists no changes/,
  },
]
for (const { what, make, undo, says } of obstacles) {
  test(`with ${what}, nothing is released, and no checks are run`, () => {
    make()
    const before = state()
    const { status, stderr } = release('minor')
    assert.deepEqual(state(), before)
    undo()
    assert.match(stderr, says)
    assert.doesNotMatch(stderr, /the checks run/)
    assert.equal(status, 1)
  })
}

test('when the checks fail, nothing is released', () => {
  withChecks('exit 3')
  const before = state()
  const { status, stderr } = release('minor')
  assert.match(stderr, /bash \.ci\/run failed: exit code 3/)
  assert.equal(status, 1)
  assert.deepEqual(state(), before)
  git('reset', '-q', '--hard', 'HEAD~1')
})

test('--dry-run runs the checks, shows the changes, and changes nothing', () => {
  const before = state()
  const { status, stdout, stderr } = release('patch', '--dry-run')
  assert.match(stderr, /the checks run/)
  assert.ok(stdout.includes(`Version ${major}.${minor}.${patch + 1} would be released`), stdout)
  assert.match(stdout, /^- /m)
  assert.equal(status, 0)
  assert.deepEqual(state(), before)
})

test('when a step after the checks fails, everything is as before', () => {
  // A hook of git refuses the commit, the last step but one.
  const hook = '#!/bin/sh\nexit 1\n'
  writeFileSync(join(folder, '.git/hooks/pre-commit'), hook, { mode: 0o755 })
  const before = state()
  const { status, stderr } = release('minor')
  git('config', 'core.hooksPath', '/dev/null')
  assert.match(stderr, /git commit .* failed: exit code 1/)
  assert.equal(status, 1)
  assert.deepEqual(state(), before)
})

test('release minor: version, changelog, commit, tag, tarball and SBOM from a fresh clone', () => {
  const changelog = read('CHANGELOG.md')
  const { status, stdout, stderr } = release('minor')
  assert.equal(status, 0, stderr)
  assert.match(stderr, /the checks run/)
  const tarball = `release/item-store-${next}.tgz`
  assert.ok(stdout.includes(`git push origin main v${next}`), stdout)
  assert.ok(stdout.includes(`npm publish ${tarball}`), stdout)

  assert.equal(versionIn(folder), next)
  const lock: { version: string; packages: Record<string, { version: string }> } = JSON.parse(
    read('package-lock.json'),
  )
  assert.deepEqual([lock.version, lock.packages['']?.version], [next, next])
  const today = new Date().toISOString().slice(0, 10)
  const dated = `## Unreleased\n\n## ${next} (${today})\n`
  assert.equal(read('CHANGELOG.md'), changelog.replace('## Unreleased\n', dated))

  assert.equal(git('log', '-1', '--format=%s'), `Release ${next}`)
  const committed = git('show', '--name-only', '--format=', 'HEAD').split('\n').sort()
  assert.deepEqual(committed, ['CHANGELOG.md', 'package-lock.json', 'package.json'])
  assert.equal(git('cat-file', '-t', `v${next}`), 'tag') // annotated: an object of its own
  assert.equal(git('rev-parse', `v${next}^{commit}`), git('rev-parse', 'HEAD'))
  assert.equal(git('status', '--porcelain'), '')

  assert.ok(filesIn(join(folder, tarball)).includes('dist/cli.js'))
  assert.deepEqual(readdirSync(join(folder, 'release')).sort(), [
    `item-store-${next}.cdx.json`,
    `item-store-${next}.tgz`,
  ])
  const sbom: {
    bomFormat: string
    metadata: { component: { name: string; version: string } }
    components: { name: string }[]
  } = JSON.parse(read(`release/item-store-${next}.cdx.json`))
  assert.equal(sbom.bomFormat, 'CycloneDX')
  const { name, version } = sbom.metadata.component
  assert.deepEqual({ name, version }, { name: 'item-store', version: next })
  const names = sbom.components.map(({ name }) => name)
  const manifest: { dependencies: object; devDependencies: object } = JSON.parse(
    read('package.json'),
  )
  for (const name of Object.keys(manifest.dependencies)) assert.ok(names.includes(name), name)
  for (const name of Object.keys(manifest.devDependencies)) assert.ok(!names.includes(name), name)

  const { stdout: said } = run(process.execPath, 'dist/cli.js', '--version')
  assert.equal(said, `${next}\n`)
})
