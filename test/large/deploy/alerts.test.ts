/** Tests each alert rule in deploy/alerts.yml: when it fires, when it does not, and that the documents explain it. */

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { outputOf } from '../../support/process.js'
import { rowsUnder } from '../../support/snippets.js'
import { emptyFolder, programTest, readText, root } from '../../support/tools.js'
import { parseYaml } from '../../support/yaml.js'

interface Rule {
  readonly alert: string
  readonly annotations: { readonly summary: string; readonly runbook: string }
}

const file = 'deploy/alerts.yml'
const [alerts] = parseYaml<{ groups: { rules: Rule[] }[] }>(readText(file))
const rules = alerts?.groups.flatMap(({ rules }) => rules) ?? []

/** Samples of each series, one every 10 s, in the notation of promtool: `1x60` is 1 and then 60 times 1. */
type Series = Readonly<Record<string, string>>

const of = 'job="item-store", instance="a"'
const requests = (status: number, route = '/api/v1/items') =>
  `item_store_requests_total{${of}, method="POST", route="${route}", status="${status}"}`
const health = '/api/v1/health'
const isHealthy = `item_store_healthy{${of}, subsystem="store"}`
const [used, most] = [`item_store_used_bytes{${of}}`, `item_store_max_bytes{${of}}`]
const value = `item_store_limit_value{${of}, limit="MAX_CONNECTIONS"}`
const maximum = value.replace('value', 'maximum')
const times = (le: string) =>
  `item_store_request_duration_seconds_bucket{${of}, route="/api/v1/items/{item_id}", le="${le}"}`
const reconnections = `item_store_redis_reconnections_total{${of}}`
const refused = `item_store_tokens_total{${of}, outcome="INVALID_TOKEN"}`

/** For each alert: cases in which it fires 11 minutes after the first sample, and cases in which it does not. */
const cases: Record<string, { fires: Series[]; isSilent: Series[] }> = {
  ItemStoreAbsent: {
    fires: [{}, { [`up{${of}}`]: '0x120' }, { [isHealthy]: '1x50 stale' }],
    isSilent: [{ [isHealthy]: '0x120' }],
  },
  ItemStoreDown: {
    fires: [{ [`up{${of}}`]: '1x50 0x60' }],
    isSilent: [{ [`up{${of}}`]: '1x62 0x60' }, { 'up{job="other", instance="a"}': '0x120' }],
  },
  ItemStoreUnhealthy: {
    fires: [{ [isHealthy]: '1x50 0x60' }],
    isSilent: [{ [isHealthy]: '1x50 0x3 1x60' }],
  },
  ItemStoreErrors: {
    fires: [
      { [requests(503)]: '0+1x120', [requests(200, health)]: '0+100x120' },
      { [requests(500)]: '0x3 0+6x120', [requests(200)]: '0+94x120' },
    ],
    isSilent: [
      { [requests(503, health)]: '0+1x120' },
      { [requests(503, health)]: '0+9x120', [requests(200)]: '0+1x120' },
      { [requests(503)]: '0+4x120', [requests(200)]: '0+96x120' },
      { [requests(503)]: '0x60 1x60', [requests(200)]: '0x120' },
      { [requests(507)]: '0+1x120' },
    ],
  },
  ItemStoreFull: {
    fires: [{ [requests(507)]: '1x60 2x60' }],
    isSilent: [{ [requests(507)]: '7x120' }, { [requests(201)]: '0+1x120' }],
  },
  ItemStoreAlmostFull: {
    fires: [{ [used]: '81x120', [most]: '100x120' }],
    isSilent: [{ [used]: '79x120', [most]: '100x120' }, { [used]: '81x120' }],
  },
  ItemStoreLimit: {
    fires: [{ [value]: '9x120', [maximum]: '10x120' }],
    isSilent: [
      { [value]: '7x120', [maximum]: '10x120' },
      { [value]: '7x50 10x3 7x60', [maximum]: '10x120' },
    ],
  },
  ItemStoreRestarted: {
    fires: [{ [`process_start_time_seconds{${of}}`]: '1x60 2x60' }],
    isSilent: [{ [`process_start_time_seconds{${of}}`]: '1x120' }],
  },
  ItemStoreSlow: {
    fires: [
      { [times('0.25')]: '0+98x120', [times('0.5')]: '0+100x120', [times('+Inf')]: '0+100x120' },
    ],
    isSilent: [
      { [times('0.25')]: '0+100x120', [times('0.5')]: '0+100x120', [times('+Inf')]: '0+100x120' },
    ],
  },
  ItemStoreReconnects: {
    fires: [{ [reconnections]: '0+1x120' }],
    isSilent: [{ [reconnections]: '0x30 2x60' }],
  },
  ItemStoreTokensRefused: {
    fires: [{ [refused]: '0+200x120' }],
    isSilent: [{ [refused]: '0+50x120' }],
  },
}

programTest('promtool', 'each alert fires when it should, and only then', (promtool) => {
  assert.deepEqual(
    Object.keys(cases),
    rules.map(({ alert }) => alert),
  )
  const tests = Object.entries(cases).flatMap(([alert, { fires, isSilent }]) =>
    [...fires, ...isSilent].map((series, place) => ({
      interval: '10s',
      input_series: Object.entries(series).map(([series, values]) => ({ series, values })),
      promql_expr_test: [
        {
          expr: `count(ALERTS{alertname="${alert}", alertstate="firing"})`,
          eval_time: '11m',
          exp_samples: place < fires.length ? [{ labels: '{}', value: 1 }] : [],
        },
      ],
    })),
  )
  const path = join(emptyFolder(), 'alerts.test.yml')
  const rule_files = [join(root, file)]
  writeFileSync(path, JSON.stringify({ rule_files, evaluation_interval: '10s', tests }))
  outputOf(promtool, ['test', 'rules', path])
})

test('each alert leads to the document with a row that says what to do', () => {
  const runbook = 'docs/reference/operation.md'
  const rows = rowsUnder(readText(runbook), '| alert | what to do |')
  const names = rows.map((row) => /^\| `(\w+)` \| \S/.exec(row)?.[1])
  assert.deepEqual(
    names,
    rules.map(({ alert }) => alert),
  )
  for (const { alert, annotations } of rules)
    assert.equal(annotations.runbook, `${runbook}#alerts`, alert)
})
