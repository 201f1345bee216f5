/** Tests what the first commands in a clone of this repository install and build. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { filesIn } from '../../support/tarball.js'
import { cleanEnvironment, emptyFolder, root, unlessMissing } from '../../support/tools.js'

const offline = { npm_config_registry: 'http://127.0.0.1:1', npm_config_cache: emptyFolder() }
const made = ['node_modules', 'build', 'dist', '.git', 'tools']
const clone = join(emptyFolder(), 'a b%20c') // must be escaped in a URL
cpSync(root, clone, {
  recursive: true,
  filter: (path) => !made.some((name) => path === join(root, name)),
})

function run(command: string, variables: NodeJS.ProcessEnv = {}) {
  const { NODE_V8_COVERAGE: _coverage, ...env } = cleanEnvironment()
  const { status, stdout, stderr } = spawnSync('sh', ['-c', command], {
    cwd: clone,
    env: { ...env, npm_config_prefer_offline: 'true', npm_config_loglevel: 'error', ...variables },
    encoding: 'utf8',
  })
  return { status, stdout, stderr }
}

function assertRuns(command: string, variables: NodeJS.ProcessEnv = {}): void {
  const { status, stderr } = run(command, variables)
  assert.equal(status, 0, stderr)
}

const token = 'JWT_SECRET=x npm run --silent token -- --sub a'

const installOnly = 'node scripts/build.mjs --install'

test('after npm ci, the build script installs nothing, and needs neither network nor cache', () => {
  assertRuns('npm ci')
  assertRuns(installOnly, offline)
})

test('with NODE_ENV=production, a command installs the missing packages that the build needs', () => {
  assertRuns('npm prune --omit=dev')
  assertRuns(token, { NODE_ENV: 'production' })
  assertRuns(token, offline)
})

test('a missing dist is built again by npm run token, and by npm pack before it packs', () => {
  for (const command of [token, 'npm pack']) {
    rmSync(join(clone, 'dist'), { recursive: true })
    assertRuns(command, offline)
    assert.ok(existsSync(join(clone, 'dist/cli.js')))
  }
  const [tarball = ''] = readdirSync(clone).filter((file) => file.endsWith('.tgz'))
  const files = filesIn(join(clone, tarball))
  for (const file of ['cli.js', 'pages/docs/index.html', 'pages/items/index.html']) {
    assert.ok(files.includes(`dist/${file}`), file)
  }
})

for (const name of ['a#b', 'a?b']) {
  test(`in a folder named ${name}, the build fails with one line`, () => {
    const copy = join(emptyFolder(), name)
    cpSync(clone, copy, { recursive: true, verbatimSymlinks: true })
    const options = { cwd: copy, encoding: 'utf8' } as const
    const { status, stderr } = spawnSync(process.execPath, ['scripts/compile.mjs'], options)
    const says = `item-store: cannot build in ${copy}/; move it to a path without # and ?\n`
    assert.deepEqual([status, stderr], [1, says])
  })
}

test('missing optional packages are installed by the build script', () => {
  const needsBinding = 'node_modules/.bin/rolldown --version'
  assertRuns('npm prune --omit=optional')
  assert.notEqual(run(needsBinding).status, 0)
  assertRuns(`${installOnly} && ${needsBinding}`)
})

const npx = 'npx --yes node@18'
const hasOldNode = run(`${npx} --version`).status === 0
test(
  'with Node.js 18, the command and the scripts print one line',
  unlessMissing(!hasOldNode && npx),
  () => {
    const says = 'item-store: needs Node.js 20.19 or newer, this is 18.'
    for (const args of ['dist/cli.js serve', 'scripts/run.mjs serve', 'scripts/test.mjs']) {
      const { status, stdout, stderr } = run(`${npx} ${args}`)
      assert.ok(stderr.startsWith(says) && /^.*\n$/.test(stderr), stderr)
      assert.deepEqual({ status, stdout }, { status: 2, stdout: '' })
    }
  },
)
