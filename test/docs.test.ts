/** The docs are true: the README's first session is run, and the tables are those of the code. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join, relative, sep } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { settings } from '../src/config.js'
import { errorKinds } from '../src/interface/errors.js'
import { paths, prefix } from '../src/interface/paths.js'
import { ownProcess } from './support/own-process.js'
import { settingRow, settingsPage } from './support/settings-page.js'

const root = join(dirname(fileURLToPath(import.meta.url)), '../..')
const readme = readFileSync(join(root, 'README.md'), 'utf8')
const interfaceDocs = readFileSync(join(root, 'docs/interface.md'), 'utf8')
const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g

test('README: the first session gets exactly the responses shown', async () => {
  const secret = /^export JWT_SECRET=(.*)$/m.exec(readme)?.[1] ?? ''
  const { printed } = ownProcess([process.execPath, 'dist/cli.js', 'serve', '--port', '0'], {
    cwd: root,
    env: { ...process.env, JWT_SECRET: secret },
  })
  const { url }: { url: string } = JSON.parse((await printed(/\n/)).split('\n', 1)[0] ?? '')
  const blocks = [...readme.matchAll(/^```sh\n(.*?)^```\n\n```json\n(.*?)^```$/gms)]
  assert.ok(blocks.length >= 7)
  const mark = '-- end of block --'
  const script = blocks.map(([, commands = '']) => `${commands}\necho '${mark}'`).join('\n')
  const { stdout, status } = spawnSync('bash', ['-e'], {
    cwd: root,
    input: script.replaceAll('http://localhost:8000', url).replaceAll('curl ', 'curl -s -m 10 '),
    encoding: 'utf8',
  })
  assert.equal(status, 0)
  const answers = stdout.split(`${mark}\n`).slice(0, -1)
  // The version in the example may be that of an earlier release.
  const version = /"version":"\d+\.\d+\.\d+"/g
  const normal = (text: string) =>
    text.replaceAll(uuid, '<uuid>').replaceAll(version, '"version":"<version>"').trim()
  assert.deepEqual(
    answers.map(normal),
    blocks.map(([, , answer = '']) => normal(answer)),
  )
})

/** The rows of the table with this head. */
function rowsUnder(text: string, head: string): string[] {
  const [, table = ''] = text.split(`${head}\n`)
  return table.split('\n\n', 1).flatMap((rows) => rows.trimEnd().split('\n').slice(1))
}

test('docs/settings.md is what `npm run docs` writes', () => {
  assert.equal(readFileSync(join(root, 'docs/settings.md'), 'utf8'), settingsPage())
})

test('README: the most used settings are those of the code, and it says where the others are', () => {
  const rows = rowsUnder(readme, '| variable | default | meaning |')
  assert.ok(rows.length >= 4, `only ${rows.length} settings`)
  const known = Object.values(settings).map(settingRow)
  for (const row of rows) assert.ok(known.includes(row), row)
  assert.match(readme, /\]\(docs\/settings\.md\)/)
})

test('docs/interface.md: the table of errors is the catalogue in the code', () => {
  const expected = Object.entries(errorKinds).map(([code, { status, when }]) => {
    return `| ${status} | \`${code}\` | ${when} |`
  })
  assert.deepEqual(rowsUnder(interfaceDocs, '| status | `error_code` | when |'), expected)
})

/**
 * The numbers of the clauses of docs/interface.md: those of its headings, and N.M for item M of a
 * numbered list under heading N.
 */
function clauses(): Set<string> {
  const numbers = new Set<string>()
  let section: string | undefined
  for (const line of interfaceDocs.split('\n')) {
    const heading = /^#+ (?:(\d+(?:\.\d+)?)[. ])?/.exec(line)
    const item = /^(\d+)\. /.exec(line)
    if (heading !== null) {
      section = heading[1]
      if (section !== undefined) numbers.add(section)
    } else if (item !== null) {
      const number = `${section}.${item[1]}`
      assert.ok(section !== undefined, `a numbered list that belongs to no clause: ${line}`)
      assert.ok(!numbers.has(number), `two clauses are numbered ${number}`)
      numbers.add(number)
    }
  }
  return numbers
}

/** The TypeScript sources in a folder, this file excepted. */
function sourcesIn(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && basename(file) !== 'docs.test.ts')
    .map((file) => join(folder, file))
}

/** The clauses that a text refers to, where each reference matches the pattern. */
function citedIn(text: string, reference: RegExp): string[] {
  const references = [...text.matchAll(reference)].map(([whole]) => whole).join()
  return [...references.matchAll(/§(\d+(?:\.\d+)*)/g)].map(([, number = '']) => number)
}

test('docs/interface.md has every clause that tests and code refer to', () => {
  const known = clauses()
  const cited = new Set<string>()
  for (const file of [...sourcesIn('test'), ...sourcesIn('src')]) {
    const text = readFileSync(join(root, file), 'utf8').replaceAll(/RFC \d+ §[\d.]+/g, '')
    const isTest = file.startsWith('test') || file.endsWith('.test.ts')
    const reference = isTest ? /§[\d.]+/g : /spec §[\d.]+(?:(?:,| to| and) §[\d.]+)*/gi
    for (const number of citedIn(text, reference)) {
      assert.ok(known.has(number), `${file} refers to §${number}, which docs/interface.md lacks`)
      cited.add(number)
    }
  }
  assert.ok(cited.size > 30, `only ${cited.size} clauses are referred to`)
})

test('docs/interface.md refers to its own clauses', () => {
  const known = clauses()
  const text = interfaceDocs.replaceAll(/RFC \d+ §[\d.]+/g, '')
  for (const number of citedIn(text, /§[\d.]+/g)) assert.ok(known.has(number), `§${number}`)
})

test('docs/reliability.md names tests that are there', () => {
  const reliability = readFileSync(join(root, 'docs/reliability.md'), 'utf8')
  const rows = rowsUnder(reliability, '| what happens | what the service does | test |')
  assert.ok(rows.length > 40, `only ${rows.length} rows`)
  for (const row of rows) {
    const names = [...(row.split(' | ').at(-1) ?? '').matchAll(/`([^`]+)`/g)]
    assert.ok(names.length > 0, `no test is named in: ${row}`)
    for (const [, name = ''] of names) assert.ok(isTestOrScript(name), `${name} in: ${row}`)
  }
})

/** Whether a name stands for a file of tests, for all those of a folder, or for an npm script. */
function isTestOrScript(name: string): boolean {
  if (name.startsWith('npm run ')) {
    const manifest: { scripts: object } = JSON.parse(
      readFileSync(join(root, 'package.json'), 'utf8'),
    )
    return (name.split(' ')[2] ?? '') in manifest.scripts
  }
  const path = name.startsWith('src/') ? name : `test/${name}.test`
  if (basename(path) !== '*.test') return existsSync(join(root, `${path}.ts`))
  const folder = join(root, dirname(path))
  return existsSync(folder) && readdirSync(folder).some((file) => file.endsWith('.test.ts'))
}

test('docs/operations: alerts and dashboard ask for routes that the metrics have', () => {
  const routes = Object.values(paths).map((path) => prefix + path)
  const texts = ['alerts.yml', 'dashboard.json'].map((name) =>
    readFileSync(join(root, 'docs/operations', name), 'utf8'),
  )
  const asked = [...texts.join('').matchAll(/route=\\?"([^"\\]+)/g)].map(([, route]) => route)
  assert.ok(asked.length > 0)
  for (const route of asked) assert.ok(route !== undefined && routes.includes(route), route)
})

test('docs/dependencies.md names every dependency', () => {
  const manifest: Record<'dependencies' | 'devDependencies', Record<string, string>> = JSON.parse(
    readFileSync(join(root, 'package.json'), 'utf8'),
  )
  const docs = readFileSync(join(root, 'docs/dependencies.md'), 'utf8')
  const named = [...docs.matchAll(/^\| `(.*?)` \|/gm)].map(([, name]) => name)
  const all = Object.keys({ ...manifest.dependencies, ...manifest.devDependencies })
  assert.deepEqual(named.sort(), all.sort())
})

test('docs/dependencies.md: no dependency has an install script', () => {
  const text = readFileSync(join(root, 'package-lock.json'), 'utf8')
  const { packages }: { packages: Record<string, { hasInstallScript?: boolean }> } =
    JSON.parse(text)
  assert.ok(Object.keys(packages).length > 50)
  const withScript = Object.entries(packages).filter(([, { hasInstallScript }]) => hasInstallScript)
  assert.deepEqual(withScript, [])
})

test('CONTRIBUTING.md: the map names every folder of src and file of src/http, and nothing else', () => {
  const text = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8')
  const named = [...text.matchAll(/^\| (`.*?`) \|/gm)]
    .flatMap(([, cell = '']) => [...cell.matchAll(/`([^`]+)`/g)])
    .map(([, path = '']) => path)
  for (const path of named) {
    const isPath = path.includes('/') && !path.includes('*')
    if (isPath) assert.ok(existsSync(join(root, path)), `${path} is not there`)
  }
  const entries = readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })
  for (const entry of entries) {
    const folder = relative(root, entry.parentPath).split(sep).join('/')
    const path = `${folder}/${entry.name}${entry.isDirectory() ? '/' : ''}`
    const isListed = entry.isDirectory() || folder === 'src' || folder === 'src/http'
    if (isListed && !path.endsWith('.test.ts')) {
      assert.ok(named.includes(path), `the map lacks ${path}`)
    }
  }
})
