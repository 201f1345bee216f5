/** Tests of nginx in front of the service, with the configuration in deploy/nginx.conf. */

import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { Agent } from 'node:https'
import { after, describe } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { serviceAt } from '../../conformance/client.js'
import { itemOf } from '../../conformance/expect.js'
import { assertRefused } from '../../decisions/expect.js'
import { newCertificate } from '../../support/certificate.js'
import { inChromium } from '../../support/chromium.js'
import { useGuardedPages } from '../../support/guarded-page.js'
import { keptClient } from '../../support/kept-client.js'
import { configureNginx, startNginx } from '../../support/nginx.js'
import { ownService } from '../../support/own-service.js'
import { freePort, until } from '../../support/process.js'
import { snippetsOf } from '../../support/snippets.js'
import { programTest } from '../../support/tools.js'

const file = 'deploy/nginx.conf'
const name = 'items.example.com'
const openPage = useGuardedPages()

programTest('nginx', 'deploy/nginx.conf is valid, and changes only the encoding', async (nginx) => {
  const settings = { MAX_BODY_BYTES: '2MiB', LOG_LEVEL: 'debug', TRUSTED_PROXIES: '127.0.0.1' }
  const own = await ownService(settings)
  const ports = { https: await freePort(), http: await freePort(), service: own.baseUrl.port }
  const { certificate, ...configured } = configure(ports)
  const checked = spawnSync(nginx, [...configured.args, '-t'], { encoding: 'utf8' })
  assert.equal(checked.status, 0, checked.stderr)
  assert.doesNotMatch(checked.stderr, /warn|deprecated/)
  startNginx(nginx, configured)
  const agent = new Agent({ servername: name, ca: certificate })
  after(() => agent.destroy())
  const baseUrl = new URL(`https://127.0.0.1:${ports.https}/api/v1`)
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

  const token = own.validToken()
  const curl = async (...args: string[]) => {
    const { stdout } = await promisify(execFile)('curl', [
      ...['-sS', '--compressed', '--insecure', '--resolve', `${name}:${ports.https}:127.0.0.1`],
      ...['-w', '\\n%{http_code} %header{etag} %header{content-encoding}'],
      ...['-H', `Authorization: Bearer ${token}`, ...args],
      `https://${name}:${ports.https}/api/v1${path}`,
    ])
    const [, text, status, etag = '', coding] = /^(.*)\n(\d+) (\S*) ?(\S*)$/s.exec(stdout) ?? []
    return { text, status, etag, coding }
  }
  const compressed = await curl()
  assert.match(compressed.text ?? '', /"n": 12345678901234567890\.10\}/)
  assert.equal(compressed.coding, 'gzip')
  assert.equal(compressed.etag, `W/${read.headers.etag}`, 'compression makes the ETag weak')
  assert.equal((await curl('-H', `If-None-Match: ${compressed.etag}`)).status, '304')
  const put = ['-X', 'PUT', '-H', 'Content-Type: application/json', '-d', '{"data":{}}']
  assert.equal((await curl(...put, '-H', `If-Match: ${compressed.etag}`)).status, '412')
  const waiting = curl('-H', `If-None-Match: ${compressed.etag}`, '-H', 'Prefer: wait=30')
  await delay(300)
  const strong = compressed.etag.replace('W/', '')
  assert.equal((await curl(...put, '-H', `If-Match: ${strong}`)).status, '200')
  assert.match((await waiting).text ?? '', /"project_id":null\}/)

  const forged = ['-H', 'X-Forwarded-For: 203.0.113.7']
  assert.equal((await curl('--interface', '127.0.0.2', ...forged)).status, '200')
  const from = (client: string) => own.log.some((line) => line.client === client)
  await until('the log has the address of the client', () => from('127.0.0.2'))
  assert.ok(!from('203.0.113.7'))
  const { text: document } = await ask('GET', '/../../openapi.json')
  assert.equal(JSON.parse(document).servers[0].url, baseUrl.href)

  const plain = await fetch(`http://127.0.0.1:${ports.http}/`, { redirect: 'manual' })
  assert.equal(plain.status, 308)
})

programTest(
  'nginx',
  'under a path prefix, as in docs/how-to/deploy.md, every link leads back to the service',
  async (nginx) => {
    const plain = await underPrefix(nginx, {})
    const hint = await plain.requestTarget('GET', '/store/')
    assert.match(assertRefused(hint, 404, 'ROUTE_NOT_FOUND'), /; see \/store\/docs$/)
    const unknown = await plain.requestTarget('GET', '/store/x')
    assert.match(assertRefused(unknown, 404, 'ROUTE_NOT_FOUND'), / under \/store\/api\/v1$/)

    const service = await underPrefix(nginx, { CONSOLE: 'on' })
    const token = service.validToken()
    const keyed = (data: string) =>
      service.request('POST', '/items', { token, body: data, headers: { 'Idempotency-Key': 'a' } })
    const created = await keyed('{"data":{"a":1}}')
    const { id } = itemOf(created, 201)
    assert.equal(created.headers.location, `/store/api/v1/items/${id}`)
    const found = await service.requestTarget('GET', created.headers.location, { token })
    assert.equal(itemOf(found, 200).id, id)
    const conflict = await keyed('{"data":{"a":2}}')
    assertRefused(conflict, 409, 'IDEMPOTENCY_CONFLICT')
    assert.equal(conflict.headers.location, created.headers.location)
    const document = JSON.parse((await service.requestTarget('GET', '/store/openapi.json')).text)
    assert.equal(document.servers[0].url, service.baseUrl.href)

    const seen = new Set<string>()
    const paths = [new URL(document.externalDocs.url).pathname, '/store/docs/', '/store/']
    for (const path of paths) {
      const { status, headers, text } = await service.requestTarget('GET', path)
      const links = /(?:src|href)="([^"]+)"|^- \[.*?\]\((.*?)\)|"(\.\/[^"]+\.js)"/gm
      const found = [...text.matchAll(links)].map((link) => link.slice(1).join(''))
      assert.ok(status === 308 || status === 200, `${status} for ${path}`)
      for (const link of [...found, headers.location ?? '']) {
        const { pathname } = new URL(link, service.baseUrl.origin + path)
        if (!seen.has(pathname)) paths.push(pathname)
        seen.add(pathname)
      }
    }
    assert.ok(seen.size > 25, [...seen].join())
  },
)

describe('under a path prefix', inChromium, () => {
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

async function underPrefix(nginx: string, env: NodeJS.ProcessEnv) {
  const own = await ownService({ TRUSTED_PROXIES: '127.0.0.1', ...env })
  const ports = { https: await freePort(), http: await freePort(), service: own.baseUrl.port }
  const plain = ['listen 443 ssl', `listen 127.0.0.1:${ports.https}`] as const // browsers reject the certificate
  startNginx(nginx, configure(ports, [plain, ...prefixed]))
  const service = serviceAt(new URL(`http://127.0.0.1:${ports.https}/store/api/v1`), own.secret)
  await until('nginx serves', () => service.request('GET', '/health').catch(() => undefined))
  return service
}

const [{ text: prefixLines } = assert.fail('no snippet')] = snippetsOf(
  'docs/how-to/deploy.md',
).filter(({ language }) => language === 'nginx')
const prefixed = [
  'location / {',
  'proxy_pass http://item_store;',
  'proxy_set_header X-Forwarded-Prefix "";',
].map((from, place) => [from, prefixLines.split('\n')[place]?.trim() ?? ''] as const)

function configure(
  ports: { https: number; http: number; service: string },
  more: readonly (readonly [string, string])[] = [],
) {
  const [pem, key] = newCertificate(`DNS:${name}`)
  const changes = [
    ...more,
    ...(more.length > 0
      ? []
      : [['listen 443 ssl', `listen 127.0.0.1:${ports.https} ssl`] as const]),
    ['listen 80;', `listen 127.0.0.1:${ports.http};`],
    ['127.0.0.1:8000', `127.0.0.1:${ports.service}`],
    [`/etc/ssl/${name}.pem`, pem],
    [`/etc/ssl/${name}.key`, key],
  ] as const
  const gzip = 'gzip on; gzip_types application/json; gzip_min_length 1;'
  return { ...configureNginx(file, changes, gzip), certificate: readFileSync(pem) }
}
