/** Tests of the Compose files, and of the configuration of Prometheus and Grafana in deploy/. */

import assert from 'node:assert/strict'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { measuredService } from '../../support/own-service.js'
import { freePort, outputOf } from '../../support/process.js'
import { emptyFolder, programTest, readText, root, toolCommand } from '../../support/tools.js'
import { parseYaml } from '../../support/yaml.js'

interface Compose {
  readonly services: Record<string, { volumes?: string[]; environment?: Record<string, string> }>
}
interface Dashboard {
  readonly panels: { title: string; targets: { expr: string }[] }[]
}

const single = 'compose.yaml'
const replicas = 'deploy/replicas/compose.yaml'
const [compose = assert.fail()] = parseYaml<Compose>(readText(single))
const dashboard: Dashboard = JSON.parse(readText('deploy/grafana/dashboard.json'))
const expressions = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr))

for (const file of [single, replicas]) {
  test(`${file} meets the schema of Compose and the rules of dclint`, () => {
    const folder = emptyFolder()
    writeFileSync(join(folder, 'compose.yaml'), readText(file))
    // Not in alphabetical order: the item store comes first, because it is the main service.
    const rules = { 'services-alphabetical-order': 0 }
    writeFileSync(join(folder, '.dclintrc'), JSON.stringify({ rules }))
    const args = [toolCommand('dclint'), '--max-warnings', '0', 'compose.yaml']
    outputOf(process.execPath, args, { cwd: folder })
  })
}

test('the files that compose.yaml mounts exist, and name its metrics port and the folder of the dashboard', () => {
  const mounts = Object.values(compose.services).flatMap(({ volumes = [] }) => volumes)
  const files = mounts.flatMap((mount) => mount.match(/^\.[^:]*/) ?? [])
  assert.equal(files.length, 5)
  for (const file of files) assert.ok(existsSync(join(root, file)), file)

  const { METRICS_PORT } = compose.services['item-store']?.environment ?? {}
  const job = /job_name: item-store\n +static_configs:\n +- targets: \["item-store:(\d+)"\]/
  assert.equal(job.exec(readText('deploy/prometheus.yml'))?.[1], METRICS_PORT)

  const [, folder] = /^ +path: (.*)$/m.exec(readText('deploy/grafana/dashboards.yml')) ?? []
  const home = compose.services.grafana?.environment?.GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH
  assert.equal(home, `${folder}/item-store.json`)
  assert.ok(mounts.includes(`./deploy/grafana/dashboard.json:${home}:ro`))
})

programTest('promtool', 'the expressions of Prometheus and the dashboard are valid', (promtool) => {
  assert.ok(expressions.length > 10, `only ${expressions.length} expressions`)
  const rules = expressions.map((expr, place) => ({ record: `panel:${place}`, expr }))
  const panels = join(emptyFolder(), 'panels.yml')
  writeFileSync(panels, JSON.stringify({ groups: [{ name: 'dashboard', rules }] }))
  const configuration = join(root, 'deploy/prometheus.yml')
  for (const args of [
    ['config', configuration],
    ['rules', panels],
  ]) {
    assert.match(outputOf(promtool, ['check', ...args]), /SUCCESS: [1-9]\d* rules found/)
  }
})

test('the service has every metric that the dashboard and the alert rules use', async () => {
  let metrics = ''
  const STORE_URL = `redis://127.0.0.1:${await freePort()}` // no server listens there, but the metrics are served
  for (const env of [{}, { STORE_URL }]) {
    const own = await measuredService(env)
    await own.call('POST', '/items', { data: {} })
    metrics += await own.metrics()
  }
  const texts = [...expressions, readText('deploy/alerts.yml')].join('\n')
  const names = new Set(texts.match(/\b(?:item_store|nodejs|process)_\w+/g))
  assert.ok(names.size > 8, [...names].join())
  for (const name of names) assert.match(metrics, new RegExp(`^${name}[ {]`, 'm'))
})
