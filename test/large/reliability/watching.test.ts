/** Tests of metrics and log lines for operators, neither of which may contain secrets. */

import assert from 'node:assert/strict'
import { measuredService } from '../../support/measured-service.js'
import { ownService, ownTest } from '../../support/own-service.js'
import { until } from '../../support/until.js'

ownTest('metrics count requests, tokens, items and bytes, on their own port only', async () => {
  const own = await measuredService()
  await own.call('POST', '/items', { data: { a: 1 } })
  await own.call('POST', '/items', { data: { a: 2 } })
  await own.request('GET', '/items')
  await own.request('GET', '/items', { token: 'x' })
  await own.requestTarget('GET', '/nowhere')

  const metrics = await own.metrics()
  for (const line of [
    'item_store_requests_total{route="/api/v1/items",method="POST",status="201"} 2',
    'item_store_requests_total{route="none",method="GET",status="404"} 1',
    'item_store_tokens_total{outcome="accepted"} 2',
    'item_store_tokens_total{outcome="MISSING_TOKEN"} 1',
    'item_store_tokens_total{outcome="INVALID_TOKEN"} 1',
    'item_store_items 2',
    'item_store_request_duration_seconds_bucket{',
    ...['item_store_item_bytes ', 'item_store_memory_fill_ratio '],
    ...['nodejs_eventloop_lag_p99_seconds ', 'process_resident_memory_bytes '],
  ]) {
    assert.ok(metrics.includes(`\n${line}`), `${line} in\n${metrics}`)
  }
  assert.equal((await own.requestTarget('GET', '/metrics')).status, 404)
  const url = `${own.metricsUrl}?from=a-scraper`
  assert.equal((await fetch(url)).status, 200)
  assert.equal((await fetch(url, { method: 'HEAD' })).status, 200)
  const refused = await fetch(url, { method: 'POST' })
  assert.deepEqual([refused.status, refused.headers.get('Allow')], [405, 'GET, HEAD'])
  assert.equal((await fetch(new URL('/other', own.metricsUrl))).status, 404)
})

ownTest('at level debug, each request has one log line, which contains no secrets', async () => {
  const own = await ownService({ LOG_LEVEL: 'debug' })
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  const token = own.validToken()
  const { headers } = await own.request('POST', '/items?key=hush', {
    token,
    headers: { traceparent, 'content-type': 'application/json' },
    body: '{"data":{"password":"hush"}}',
  })
  await own.request('GET', '/items', { token, headers: { traceparent: 'hush' } })
  await own.request('GET', '/items', { token: 'hush' })
  await own.requestTarget('GET', 'http://user:hush@a/api/v1/health?hush')
  const lines = await until('four lines', () => {
    const answered = own.log.filter(({ msg }) => msg === 'answered')
    return answered.length >= 4 && answered
  })
  assert.equal(lines[0]?.session_id, headers['x-session-id'])
  const seen = lines.map((line) => [line.method, line.path, line.status, line.client, line.sub])
  assert.deepEqual(seen, [
    ['POST', '/api/v1/items', 201, '127.0.0.1', 'tester'],
    ['GET', '/api/v1/items', 200, '127.0.0.1', 'tester'],
    ['GET', '/api/v1/items', 401, '127.0.0.1', undefined],
    ['GET', '/api/v1/health', 200, '127.0.0.1', undefined],
  ])
  const trace = lines.map((line) => line.traceparent)
  assert.deepEqual(trace, [traceparent, undefined, undefined, undefined])
  assert.equal(lines[2]?.error_code, 'INVALID_TOKEN')
  assert.doesNotMatch(JSON.stringify(own.log), /hush/)
  assert.ok(!JSON.stringify(own.log).includes(token))
})
