/** Checks the documentation: shell sessions run as shown, and tables match the code. */

import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { environmentSigning } from '../src/auth/secret.js'
import { settingNames } from '../src/config/settings.js'
import { createMetrics } from '../src/http/metrics.js'
import { errorKinds } from '../src/interface/errors.js'
import { paths, prefix } from '../src/interface/paths.js'
import { createMemoryStore } from '../src/store/memory/store.js'
import { startCommand } from './support/own-service.js'
import { settingsTable } from './support/settings-table.js'
import { assertShown, folderOf, rowsUnder, runInShell, snippetsOf } from './support/snippets.js'
import { readText, root } from './support/tools.js'

const documents = [
  ...['README.md', 'CONTRIBUTING.md', 'AGENTS.md', 'SECURITY.md'],
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => join('docs', file)),
]

for (const { file, least } of [
  { file: 'README.md', least: 1 },
  { file: 'docs/tutorial.md', least: 4 },
  { file: 'docs/reference/interface.md', least: 14 },
  { file: 'docs/explanation/exact-numbers.md', least: 1 },
]) {
  test(`${file}: the session prints exactly what is shown`, async () => {
    const { printed } = startCommand(['dev', '--port', '0'])
    const text = await printed(/^curl .*\n$/m)
    const [, url = ''] = /interface +(\S+)\/api\/v1$/m.exec(text) ?? []
    const [, TOKEN = ''] = /^TOKEN=(.*)$/m.exec(text) ?? []
    const snippets = snippetsOf(file)
    const commands = snippets.filter(({ language }) => language === 'sh')
    assert.ok(commands.length >= least)
    const here = (text: string) => text.replaceAll('http://localhost:8000', url)
    const blocks = commands.map(({ text }) => here(text).replaceAll('curl ', 'curl -s -m 10 '))
    const place = { cwd: folderOf(file, here), env: { TOKEN } }
    assertShown(snippets, await runInShell(blocks, place))
  })
}

test('docs/reference/settings.md has the table that `npm run docs` writes', () => {
  assert.ok(readText('docs/reference/settings.md').includes(`\n\n${settingsTable()}\n\n`))
})

test('documents name no setting that does not exist', () => {
  const known = new Set(settingNames)
  const named = /\b(?:MAX|STORE|METRICS|TRUSTED)_[A-Z_]+\b|\b[A-Z_]+_TIMEOUT\b/g
  const codes = new Set<string>(Object.keys(errorKinds))
  for (const file of [...documents, 'deploy/alerts.yml', 'deploy/nginx.conf']) {
    for (const [name] of readText(file).matchAll(named)) {
      assert.ok(known.has(name) || codes.has(name), `${name} in ${file}`)
    }
  }
})

test('docs/reference/interface.md: the table of errors matches the catalogue in the code', () => {
  const expected = Object.entries(errorKinds).map(([name, { status, when }]) => {
    return `| ${status} | ${name === 'itemNotFound' ? 'none' : `\`${name}\``} | ${when}`
  })
  const head = '| status | `error_code` | when | what to do |'
  const rows = rowsUnder(readText('docs/reference/interface.md'), head)
  const withoutRemedy = rows.map((row) => row.replace(/ \| [^|]+ \|$/, ''))
  assert.deepEqual(withoutRemedy, expected)
})

test('deploy: alerts and dashboard query only routes that exist in the metrics', () => {
  const routes = Object.values(paths).map((path) => prefix + path)
  const texts = ['alerts.yml', 'grafana/dashboard.json'].map((name) => readText(`deploy/${name}`))
  const asked = [...texts.join('').matchAll(/route=\\?"([^"\\]+)/g)].map(([, route]) => route)
  assert.ok(asked.length > 0)
  for (const route of asked) assert.ok(route !== undefined && routes.includes(route), route)
})

test('docs/reference/operation.md lists exactly the metrics of the service', async () => {
  const text = readText('docs/reference/operation.md')
  const named = [...text.matchAll(/^\| `(item_store_\w+)` \|/gm)].map(([, name = '']) => name)
  const traffic = { inFlight: 0, waiting: 0, reconnections: 0, redirections: 0 }
  const store = {
    ...createMemoryStore(1000),
    traffic: { ...traffic, unknownOutcomes: 0, onRoundTrip: undefined },
  }
  const { registry } = createMetrics({ store, signing: environmentSigning, limits: [] })
  const all = registry.getMetricsAsArray().map(({ name }) => name)
  const own = all.filter((name) => name.startsWith('item_store_'))
  assert.deepEqual(named, own)
})

test('SECURITY.md: no dependency has an install script', () => {
  const text = readText('package-lock.json')
  const { packages }: { packages: Record<string, { hasInstallScript?: boolean }> } =
    JSON.parse(text)
  assert.ok(Object.keys(packages).length > 50)
  const withScript = Object.entries(packages).filter(([, { hasInstallScript }]) => hasInstallScript)
  assert.deepEqual(withScript, [])
})

for (const file of documents) {
  test(`${file}: all links lead to existing files and headings`, () => {
    const text = readText(file)
    for (const [, link = ''] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^https?:/.test(link)) continue
      const [path = '', anchor] = link.split('#')
      const target = path === '' ? file : join(dirname(file), path)
      assert.ok(existsSync(join(root, target)), link)
      if (anchor !== undefined) assert.ok(anchorsOf(target).includes(anchor), link)
    }
  })
}

function anchorsOf(file: string): string[] {
  return [...readText(file).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  )
}
