/** Tests that operators get metrics on their own port, and log lines without secrets. */

import assert from 'node:assert/strict'
import { measuredService, ownService, ownTest } from '../../support/own-service.js'
import { until } from '../../support/process.js'

ownTest('metrics count requests by route, on their own port only', async () => {
  const own = await measuredService()
  await own.call('POST', '/items', { data: { a: 1 } })
  assert.equal((await own.requestTarget('GET', '/metrics')).status, 404)
  const metrics = await own.metrics()
  for (const labels of [
    'route="/api/v1/items",method="POST",status="201"',
    'route="none",method="GET",status="404"',
  ]) {
    assert.ok(metrics.includes(`\nitem_store_requests_total{${labels}} 1\n`), metrics)
  }

  const url = `${own.metricsUrl}?from=a-scraper`
  assert.equal((await fetch(url)).status, 200)
  assert.equal((await fetch(url, { method: 'HEAD' })).status, 200)
  const refused = await fetch(url, { method: 'POST' })
  assert.deepEqual([refused.status, refused.headers.get('Allow')], [405, 'GET, HEAD'])
  assert.equal((await fetch(new URL('/other', own.metricsUrl))).status, 404)
})

ownTest('at level debug, each request has one log line, which contains no secrets', async () => {
  const own = await ownService({ LOG_LEVEL: 'debug' })
  const token = own.validToken()
  const body = '{"data":{"password":"hush"}}'
  await own.request('POST', '/items?key=hush', { token, body, headers: { traceparent: 'hush' } })
  await own.request('GET', '/items', { token: 'hush' })
  await own.requestTarget('GET', 'http://user:hush@a/api/v1/health?hush')
  const answered = () => own.log.filter(({ msg }) => msg === 'answered')
  await until('three lines', () => answered().length >= 3)
  const seen = answered().map(({ method, path, status, sub }) => [method, path, status, sub])
  assert.deepEqual(seen, [
    ['POST', '/api/v1/items', 201, 'tester'],
    ['GET', '/api/v1/items', 401, undefined],
    ['GET', '/api/v1/health', 400, undefined], // a user name in the target (RFC 9110 §4.2.4)
  ])
  assert.doesNotMatch(JSON.stringify(own.log), /hush/)
  assert.ok(!JSON.stringify(own.log).includes(token))
})
