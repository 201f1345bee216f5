/** Tests of nginx in front of the service, with the configuration in deploy/nginx.conf. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { Agent } from 'node:https'
import { after, describe } from 'node:test'
import { serviceAt } from '../../conformance/client.js'
import { itemOf } from '../../conformance/expect.js'
import { assertRefused } from '../../decisions/expect.js'
import { newCertificate } from '../../support/certificate.js'
import { inChromium } from '../../support/chromium.js'
import { useGuardedPages } from '../../support/guarded-page.js'
import { keptClient } from '../../support/kept-client.js'
import { configureNginx, startNginx, withoutTls } from '../../support/nginx.js'
import { measuredService, ownService } from '../../support/own-service.js'
import { freePort, until } from '../../support/process.js'
import { snippetsOf } from '../../support/snippets.js'
import { programTest } from '../../support/tools.js'

const file = 'deploy/nginx.conf'
const name = 'items.example.com'
const openPage = useGuardedPages()

programTest('nginx', 'deploy/nginx.conf is valid, and changes only the encoding', async (nginx) => {
  const settings = { MAX_BODY_BYTES: '2MiB', LOG_LEVEL: 'debug', TRUSTED_PROXIES: '127.0.0.1' }
  const own = await measuredService(settings)
  const [https, http] = [await freePort(), await freePort()]
  const [pem, key] = newCertificate(`DNS:${name}`)
  const changes = [
    ['listen 443 ssl', `listen 127.0.0.1:${https} ssl`],
    ['listen 80;', `listen 127.0.0.1:${http};`],
    ['127.0.0.1:8000', own.baseUrl.host],
    [`/etc/ssl/${name}.pem`, pem],
    [`/etc/ssl/${name}.key`, key],
  ] as const
  const gzip = 'gzip on; gzip_types application/json; gzip_min_length 1;'
  const configured = configureNginx(file, changes, gzip)
  const checked = spawnSync(nginx, [...configured.args, '-t'], { encoding: 'utf8' })
  assert.equal(checked.status, 0, checked.stderr)
  assert.doesNotMatch(checked.stderr, /warn|deprecated/)
  startNginx(nginx, configured)
  const client = '127.0.0.2'
  const agent = new Agent({ servername: name, ca: readFileSync(pem), localAddress: client })
  after(() => agent.destroy())
  const baseUrl = new URL(`https://127.0.0.1:${https}/api/v1`)
  const ask = keptClient(serviceAt(baseUrl, own.secret), agent)
  await until('nginx serves', async () => (await ask('GET', '/health')).status === 200)

  const created = await ask('POST', '/items', '{"data": {"n": 12345678901234567890.10}}')
  assert.equal(created.status, 201)
  const path = String(created.headers.location).replace('/api/v1', '')
  const read = await ask('GET', path)
  assert.match(read.text, /"n": 12345678901234567890\.10\}/)

  const long = await ask('POST', '/items', `{"data": {"text": "${'x'.repeat(1_500_000)}"}}`)
  assert.equal(long.status, 201, 'the body is longer than the default limit of nginx')
  const tooLong = await ask('POST', '/items', `{"data": {"text": "${'x'.repeat(3_000_000)}"}}`)
  assertRefused(tooLong, 413, 'PAYLOAD_TOO_LARGE')

  const { etag = '' } = read.headers
  const accept = { 'accept-encoding': 'gzip', 'x-forwarded-for': '203.0.113.7' }
  const { headers } = await ask('GET', path, undefined, accept)
  assert.equal(headers['content-encoding'], 'gzip')
  assert.equal(headers.etag, `W/${etag}`, 'compression makes the ETag weak')
  const seen = { ...accept, 'if-none-match': headers.etag }
  assert.equal((await ask('GET', path, undefined, seen)).status, 304)
  const put = (tag: string) => ask('PUT', path, '{"data":{}}', { 'if-match': tag })
  assert.equal((await put(headers.etag)).status, 412)
  const waiting = ask('GET', path, undefined, { ...seen, prefer: 'wait=30' })
  await until('the read waits', async () => (await own.waitingReads()) === 1)
  assert.equal((await put(etag)).status, 200)
  assert.equal((await waiting).status, 200)

  await until('the log has the address of the client', () =>
    own.log.some((line) => line.client === client),
  )
  assert.ok(!own.log.some((line) => line.client === '203.0.113.7'), 'a forged address')
  const { text: document } = await ask('GET', '/../../openapi.json')
  assert.equal(JSON.parse(document).servers[0].url, baseUrl.href)
  const plain = await fetch(`http://127.0.0.1:${http}/`, { redirect: 'manual' })
  assert.equal(plain.status, 308)
})

describe('under a path prefix, as in docs/how-to/deploy.md', () => {
  programTest('nginx', 'paths in responses begin with the prefix', async (nginx) => {
    const plain = await underPrefix(nginx, {})
    const hint = await plain.requestTarget('GET', '/store/')
    assert.match(assertRefused(hint, 404, 'ROUTE_NOT_FOUND'), /; see \/store\/docs$/)
    const unknown = await plain.requestTarget('GET', '/store/x')
    assert.match(assertRefused(unknown, 404, 'ROUTE_NOT_FOUND'), / under \/store\/api\/v1$/)

    const token = plain.validToken()
    const keyed = (body: string) =>
      plain.request('POST', '/items', { token, body, headers: { 'Idempotency-Key': 'a' } })
    const { location } = (await keyed('{"data":{"a":1}}')).headers
    const found = await plain.requestTarget('GET', location ?? '', { token })
    assert.equal(location, `/store/api/v1/items/${itemOf(found, 200).id}`)
    const conflict = await keyed('{"data":{"a":2}}')
    assertRefused(conflict, 409, 'IDEMPOTENCY_CONFLICT')
    assert.equal(conflict.headers.location, location)

    const document = JSON.parse((await plain.requestTarget('GET', '/store/openapi.json')).text)
    assert.equal(document.servers[0].url, plain.baseUrl.href)
    const { pathname } = new URL(document.externalDocs.url)
    assert.equal((await plain.requestTarget('GET', pathname)).status, 200)
    const slash = await plain.requestTarget('GET', '/store/docs/')
    assert.equal(slash.status, 308)
    const target = new URL(slash.headers.location ?? '', `${plain.baseUrl.origin}/store/docs/`)
    assert.equal(target.pathname, '/store/docs')
  })

  describe('in Chromium', inChromium, () => {
    programTest('nginx', 'both pages work and link to each other', async (nginx) => {
      const { baseUrl, validToken, call } = await underPrefix(nginx, { CONSOLE: 'on' })
      assert.equal((await call('POST', '/items', { data: { a: 'first' } })).status, 201)
      const page = await openPage(`${baseUrl.origin}/store/#token=${validToken()}`)
      await page.getByText('first').waitFor()
      await page.getByRole('link', { name: 'API' }).click()
      await page.getByText(`${baseUrl.href}`).first().waitFor()
      const section = page.locator('#listItems')
      await section.getByRole('button', { name: 'Try it' }).click()
      await section.getByRole('button', { name: 'Send' }).click()
      await section.getByText('Items retrieved successfully').first().waitFor()
      const hrefs = await page.evaluate<string[]>('[...document.links].map(({ href }) => href)')
      for (const href of hrefs) assert.ok(href.startsWith(`${baseUrl.origin}/store/`), href)
    })
  })
})

/** Starts nginx with the guide's three lines, and without TLS, because browsers reject the certificate. */
async function underPrefix(nginx: string, env: NodeJS.ProcessEnv) {
  const own = await ownService({ TRUSTED_PROXIES: '127.0.0.1', ...env })
  const port = await freePort()
  const prefixed = snippetsOf('docs/how-to/deploy.md').find(({ language }) => language === 'nginx')
  const lines = prefixed?.text.split('\n').map((line) => line.trim()) ?? []
  const configured = configureNginx(file, [
    ['location / {', lines[0] ?? ''],
    ['proxy_pass http://item_store;', lines[1] ?? ''],
    ['proxy_set_header X-Forwarded-Prefix "";', lines[2] ?? ''],
    ...(await withoutTls(port)),
    ['127.0.0.1:8000', own.baseUrl.host],
  ])
  startNginx(nginx, configured)
  const service = serviceAt(new URL(`http://127.0.0.1:${port}/store/api/v1`), own.secret)
  await until('nginx serves', () => service.request('GET', '/health').catch(() => undefined))
  return service
}
