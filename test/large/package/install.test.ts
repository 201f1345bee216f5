/** The package as it is installed: from the tarball, into an empty folder. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { ownProcess } from '../../support/own-process.js'
import { ownService } from '../../support/own-service.js'
import { cleanEnvironment, install, pack } from '../../support/tarball.js'
import { requireTool, root } from '../../support/tools.js'

const maxPackages = 30
const oldestNode = '20.19.0'

const tarball = pack()
const startedAt = performance.now()
const folder = install(tarball)
const installedAt = performance.now()
const env = cleanEnvironment()

/** Time since the installation began, in seconds, for people. */
function seconds(end: number): string {
  return `${((end - startedAt) / 1000).toFixed(1)} s`
}

interface Manifest {
  readonly name: string
  readonly engines?: { readonly node?: string }
  readonly scripts?: Record<string, string>
}

/** The manifests of all packages that are installed. */
function installed(): Manifest[] {
  return readdirSync(join(folder, 'node_modules'), { recursive: true, encoding: 'utf8' })
    .filter((file) => /(^|node_modules[\\/])(@[^\\/]+[\\/])?[^\\/@]+[\\/]package\.json$/.test(file))
    .map((file) => JSON.parse(readFileSync(join(folder, 'node_modules', file), 'utf8')))
}

test(`at most ${maxPackages} packages, none with an install script`, (t) => {
  const packages = installed()
  t.diagnostic(`${packages.length} packages, installed in ${seconds(installedAt)}`)
  assert.ok(packages.some(({ name }) => name === 'pino'))
  assert.ok(packages.length <= maxPackages, packages.map(({ name }) => name).join(' '))
  for (const { name, scripts = {} } of packages) {
    for (const script of ['preinstall', 'install', 'postinstall']) {
      assert.ok(!(script in scripts), `${name} has a ${script} script`)
    }
  }
})

test(`every package supports Node.js ${oldestNode}, the oldest that is promised`, () => {
  const { satisfies }: { satisfies: (version: string, range: string) => boolean } =
    requireTool('semver')
  const packages = installed()
  const own = packages.find(({ name }) => name === 'item-store')
  assert.equal(own?.engines?.node, `>=${oldestNode}`)
  for (const { name, engines } of packages) {
    assert.ok(satisfies(oldestNode, engines?.node ?? '*'), `${name} needs ${engines?.node}`)
  }
})

test('npx item-store dev, and one paste: the first item is stored', async (t) => {
  const own = ownProcess(['npx', 'item-store', 'dev', '--port', '0'], { cwd: folder, env })
  const printed = await own.printed(/\ncurl [^\n]+Authorization[^\n]+\n\n$/)
  const lines = printed.slice(printed.indexOf('TOKEN=')).replaceAll('curl ', 'curl -s -m 20 ')
  const { status, stdout } = spawnSync('bash', ['-e'], { input: lines, encoding: 'utf8' })
  t.diagnostic(`first item stored ${seconds(performance.now())} after the installation began`)
  const [created, listed] = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  assert.equal(created.status, 'created')
  assert.deepEqual(listed.data, [created.data])
  assert.equal(status, 0)
})

test('npx item-store conformance passes this service', async () => {
  const service = await ownService()
  const { status, stdout, stderr } = spawnSync(
    'npx',
    ['item-store', 'conformance', service.baseUrl.href],
    { cwd: folder, env: { ...env, JWT_SECRET: service.secret }, encoding: 'utf8', timeout: 60_000 },
  )
  assert.equal(status, 0, stdout + stderr)
  assert.match(stdout, /^ℹ fail 0$/m)
})

const { exports }: { exports: object } = JSON.parse(
  readFileSync(join(root, 'package.json'), 'utf8'),
)
/** What programs import. */
const entries = Object.keys(exports)
  .filter((path) => path !== './package.json')
  .map((path) => path.replace(/^\./, 'item-store'))
const imports = entries.map((entry, at) => `import * as entry${at} from '${entry}'\n`).join('')
const names = entries.map((_, at) => `entry${at}`)

const programs = [
  { file: 'a.mjs', text: `${imports}const entries = [${names}]\n` },
  {
    file: 'a.cjs',
    text: `const entries = ${JSON.stringify(entries)}.map((name) => require(name))\n`,
  },
]
for (const { file, text } of programs) {
  test(`its entries load in ${file}, without a warning`, () => {
    const print = 'console.log(entries.every((entry) => Object.keys(entry).length > 0))\n'
    writeFileSync(join(folder, file), text + print)
    const options = { cwd: folder, env, encoding: 'utf8' } as const
    const { stdout, stderr } = spawnSync(process.execPath, [file], options)
    assert.deepEqual({ stdout, stderr }, { stdout: 'true\n', stderr: '' })
  })
}

const resolutions = [
  ['--module', 'nodenext'],
  ['--module', 'preserve', '--moduleResolution', 'bundler'],
]
for (const options of resolutions) {
  test(`its types are clean with --strict ${options.join(' ')}`, () => {
    // An entry without types would be an `any`, which has every member.
    const uses = names.map((name) => `// @ts-expect-error\n${name}.missing\n`).join('')
    writeFileSync(join(folder, 'a.mts'), imports + uses)
    const tsc = join(root, 'node_modules/typescript/bin/tsc')
    const nodeTypes = ['--types', 'node', '--typeRoots', join(root, 'node_modules/@types')]
    const args = ['--noEmit', '--strict', '--target', 'es2023', ...nodeTypes, ...options, 'a.mts']
    const { status, stdout } = spawnSync(process.execPath, [tsc, ...args], {
      cwd: folder,
      encoding: 'utf8',
    })
    assert.deepEqual({ status, stdout }, { status: 0, stdout: '' })
  })
}
