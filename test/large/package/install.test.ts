/** Tests of the packed and installed package, as in docs/how-to/dev.md. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { outputOf, ownProcess } from '../../support/process.js'
import { snippetsOf } from '../../support/snippets.js'
import { cleanEnvironment, emptyFolder, manifest, requireTool, root } from '../../support/tools.js'

const maxPackages = 30
const oldestNode = '20.19.0'

const parent = emptyFolder()
const [clone, folder] = [join(parent, 'item-store'), join(parent, 'project')]
for (const each of [clone, folder]) mkdirSync(each)
const env = cleanEnvironment()
const quick = { npm_config_prefer_offline: 'true', npm_config_audit: 'false' }
const strict = { npm_config_engine_strict: 'true', npm_config_pack_destination: clone }
const [pack, install] = snippetsOf('docs/how-to/dev.md')
// The tarball is written to another folder than that of this repository.
for (const [snippet, cwd] of [
  [pack, root],
  [install, folder],
] as const) {
  outputOf('bash', ['-ec', snippet?.text ?? ''], { cwd, env: { ...env, ...quick, ...strict } })
}

interface Lock {
  readonly packages: Record<string, { engines?: { node?: string } }>
}

test(`at most ${maxPackages} packages are installed, and all support Node.js ${oldestNode}`, () => {
  const semver: { satisfies(version: string, range: string): boolean } = requireTool('semver')
  const lock = readFileSync(join(folder, 'node_modules/.package-lock.json'), 'utf8')
  const { packages }: Lock = JSON.parse(lock)
  assert.equal(packages['node_modules/item-store']?.engines?.node, `>=${oldestNode}`)
  const names = Object.keys(packages)
  assert.ok(names.includes('node_modules/pino') && names.length <= maxPackages, names.join(' '))
  for (const [name, { engines: { node: range = '*' } = {} }] of Object.entries(packages)) {
    assert.ok(semver.satisfies(oldestNode, range), `${name} needs ${range}`)
  }
})

test('npx item-store dev starts a service that npx item-store conformance passes', async () => {
  const secret = { JWT_SECRET: 'a secret of at least thirty-two bytes' }
  const options = { cwd: folder, env: { ...env, ...secret } }
  const own = ownProcess(['npx', 'item-store', 'dev', '--port', '0'], options)
  const printed = await own.printed(/interface +\S+\n/)
  const [, url = ''] = /interface +(\S+)$/m.exec(printed) ?? []
  assert.match(outputOf('npx', ['item-store', 'conformance', url], options), /^ℹ fail 0$/m)
})

const entries = Object.keys(manifest.exports)
  .filter((path) => path !== './package.json')
  .map((path) => path.replace(/^\./, 'item-store'))

for (const [file, load] of [
  ['a.mjs', 'await import'],
  ['a.cjs', 'require'],
] as const) {
  test(`all entries of the package load in ${file}, without a warning`, () => {
    const lines = entries.map((entry) => `console.log(Object.keys(${load}('${entry}')).length > 0)`)
    writeFileSync(join(folder, file), lines.join('\n'))
    const options = { cwd: folder, env, encoding: 'utf8' } as const
    const { stdout, stderr } = spawnSync(process.execPath, [file], options)
    assert.deepEqual({ stdout, stderr }, { stdout: 'true\n'.repeat(entries.length), stderr: '' })
  })
}
