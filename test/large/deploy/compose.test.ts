/** compose.yaml, what it gives to Prometheus and Grafana, and the same for replicas. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { ownService } from '../../support/own-service.js'
import { freePort } from '../../support/process.js'
import { programTest } from '../../support/program-test.js'
import { root, toolCommand } from '../../support/tools.js'
import { parseYaml } from '../../support/yaml.js'

interface Compose {
  readonly services: Record<string, { volumes?: string[]; environment?: Record<string, string> }>
}
interface Scrapes {
  readonly scrape_configs: { job_name: string; static_configs: { targets: string[] }[] }[]
}
interface Dashboard {
  readonly panels: { title: string; targets: { expr: string }[] }[]
}
interface Alerts {
  readonly groups: { rules: { alert: string; expr: string }[] }[]
}

const read = (file: string) => readFileSync(join(root, file), 'utf8')
const single = 'compose.yaml'
const replicas = 'deploy/replicas/compose.yaml'
const compose = parseYaml<Compose>(read(single))
const dashboard: Dashboard = JSON.parse(read('deploy/grafana/dashboard.json'))
const expressions = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr))

/** Runs the linter on a text of compose.yaml; it checks the published schema first. */
function lint(text: string): { status: number | null; stdout: string } {
  const folder = mkdtempSync(join(tmpdir(), 'item-store-compose-'))
  writeFileSync(join(folder, 'compose.yaml'), text)
  // The service comes first, as that is what the file is about.
  const rules = { 'services-alphabetical-order': 0 }
  writeFileSync(join(folder, '.dclintrc'), JSON.stringify({ rules }))
  const args = [toolCommand('dclint'), '--max-warnings', '0', 'compose.yaml']
  return spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' })
}

for (const file of [single, replicas]) {
  test(`${file}: meets the schema of Compose and the rules of dclint`, () => {
    const text = read(file)
    const { status, stdout } = lint(text)
    assert.equal(status, 0, stdout)
    assert.notEqual(lint(text.replace('read_only:', 'readonly:')).status, 0)
  })
}

test('compose.yaml: the files that it mounts are there', () => {
  const mounts = Object.values(compose.services).flatMap(({ volumes = [] }) => volumes)
  const files = mounts.map((mount) => mount.split(':')[0] ?? '').filter((path) => /^\./.test(path))
  assert.equal(files.length, 5)
  for (const file of files) assert.ok(existsSync(join(root, file)), file)
})

test('compose.yaml: Prometheus asks the service where it serves its metrics, as the job of the dashboard', () => {
  const { METRICS_PORT } = compose.services['item-store']?.environment ?? {}
  const scrapes = parseYaml<Scrapes>(read('deploy/prometheus.yml')).scrape_configs
  const asked = scrapes.map(({ job_name, static_configs }) => [job_name, static_configs])
  assert.deepEqual(asked, [['item-store', [{ targets: [`item-store:${METRICS_PORT}`] }]]])
})

programTest('promtool', 'deploy/prometheus.yml and the alert rules are valid', (promtool) => {
  const folder = mkdtempSync(join(tmpdir(), 'item-store-prometheus-'))
  copyFileSync(join(root, 'deploy/prometheus.yml'), join(folder, 'prometheus.yml'))
  copyFileSync(join(root, 'deploy/alerts.yml'), join(folder, 'alerts.yml'))
  const checked = spawnSync(promtool, ['check', 'config', join(folder, 'prometheus.yml')], {
    encoding: 'utf8',
  })
  assert.equal(checked.status, 0, checked.stderr)
  assert.match(checked.stdout, /SUCCESS: [1-9]\d* rules found/)
})

programTest('promtool', 'the expressions of the dashboard are valid', (promtool) => {
  assert.ok(expressions.length > 10, `only ${expressions.length} expressions`)
  const rules = expressions.map((expr, place) => ({ record: `panel:${place}`, expr }))
  const file = join(mkdtempSync(join(tmpdir(), 'item-store-dashboard-')), 'rules.yml')
  writeFileSync(file, JSON.stringify({ groups: [{ name: 'dashboard', rules }] }))
  const { status, stdout, stderr } = spawnSync(promtool, ['check', 'rules', file], {
    encoding: 'utf8',
  })
  assert.equal(status, 0, stdout + stderr)
})

test('every metric of the dashboard and the alert rules is served', async () => {
  const metricsWith = async (env: NodeJS.ProcessEnv) => {
    const port = await freePort()
    const own = await ownService({ ...env, METRICS_PORT: String(port) })
    await own.call('POST', '/items', { data: {} })
    return await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  }
  const STORE_URL = `redis://127.0.0.1:${await freePort()}` // what is measured needs no server
  const metrics = (await metricsWith({})) + (await metricsWith({ STORE_URL }))
  const alerts = parseYaml<Alerts>(read('deploy/alerts.yml'))
  const rules = alerts.groups.flatMap(({ rules }) => rules.map(({ expr }) => expr))
  const names = [...expressions, ...rules]
    .join(' ')
    .matchAll(/\b(?:item_store|nodejs|process)_\w+/g)
  const known = new Set([...names].map(([name]) => name))
  assert.ok(known.size > 8, [...known].join())
  for (const name of known) assert.match(metrics, new RegExp(`^${name}[ {]`, 'm'))
})

test('Grafana finds its data source and its dashboard', () => {
  const [source] = parseYaml<{ datasources: { type: string; url: string }[] }>(
    read('deploy/grafana/datasource.yml'),
  ).datasources
  assert.deepEqual([source?.type, source?.url], ['prometheus', 'http://prometheus:9090'])
  const [provider] = parseYaml<{ providers: { options: { path: string } }[] }>(
    read('deploy/grafana/dashboards.yml'),
  ).providers
  const { volumes = [], environment = {} } = compose.services.grafana ?? {}
  const mounted = volumes.map((mount) => mount.split(':')[1])
  const home = environment.GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH
  assert.ok(mounted.includes(home), `${home} in ${mounted}`)
  assert.equal(home, `${provider?.options.path}/item-store.json`)
})
