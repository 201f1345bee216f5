/** nginx in front of the service, with the configuration in deploy/nginx.conf. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { Agent } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { serviceAt } from '../../conformance/client.js'
import { newCertificate } from '../../support/certificate.js'
import { keptClient } from '../../support/kept-client.js'
import { ownProcess } from '../../support/own-process.js'
import { ownService } from '../../support/own-service.js'
import { freePort } from '../../support/process.js'
import { programTest } from '../../support/program-test.js'
import { root } from '../../support/tools.js'
import { until } from '../../support/until.js'

const name = 'items.example.com'

programTest(
  'nginx',
  'deploy/nginx.conf: nginx takes it, and passes everything on as it is',
  async (nginx) => {
    const own = await ownService({ MAX_BODY_BYTES: '2MiB' })
    const ports = { https: await freePort(), http: await freePort(), service: own.baseUrl.port }
    const { folder, certificate } = configure(ports)
    const args = ['-e', 'stderr', '-p', folder, '-c', 'main.conf']
    const checked = spawnSync(nginx, [...args, '-t'], { encoding: 'utf8' })
    assert.equal(checked.status, 0, checked.stderr)
    ownProcess([nginx, ...args], { cwd: folder, env: process.env })
    const agent = new Agent({ servername: name, ca: certificate })
    after(() => agent.destroy())
    const baseUrl = new URL(`https://127.0.0.1:${ports.https}/api/v1`)
    const ask = keptClient(serviceAt(baseUrl, own.secret), agent)
    await until('nginx serves', async () => (await ask('GET', '/health')).status === 200)

    const created = await ask('POST', '/items', '{"data": {"n": 12345678901234567890.10}}')
    assert.equal(created.status, 201)
    const { location = '' } = created.headers
    const read = await ask('GET', location.replace('/api/v1', ''))
    assert.match(read.text, /"n": 12345678901234567890\.10\}/)

    const long = await ask('POST', '/items', `{"data": {"text": "${'x'.repeat(1_500_000)}"}}`)
    assert.equal(long.status, 201, 'longer than the limit that nginx has by itself')
    const tooLong = await ask('POST', '/items', `{"data": {"text": "${'x'.repeat(3_000_000)}"}}`)
    assert.equal(tooLong.status, 413)
    assert.match(tooLong.text, /PAYLOAD_TOO_LARGE/)
    assert.equal(tooLong.headers['access-control-allow-origin'], '*')

    const plain = await fetch(`http://127.0.0.1:${ports.http}/api/v1/health`, {
      redirect: 'manual',
      headers: { host: name },
    })
    assert.equal(plain.status, 308)
  },
)

/** A folder with the configuration, on other ports and with a certificate of its own. */
function configure(ports: { https: number; http: number; service: string }) {
  const folder = mkdtempSync(join(tmpdir(), 'item-store-nginx-'))
  chmodSync(folder, 0o755) // for the workers of nginx, which are another user than root
  const [pem, key] = newCertificate(`DNS:${name}`)
  let text = readFileSync(join(root, 'deploy/nginx.conf'), 'utf8')
  for (const [from, to] of [
    ['listen 443 ssl', `listen 127.0.0.1:${ports.https} ssl`],
    ['listen 80;', `listen 127.0.0.1:${ports.http};`],
    ['127.0.0.1:8000', `127.0.0.1:${ports.service}`],
    [`/etc/ssl/${name}.pem`, pem],
    [`/etc/ssl/${name}.key`, key],
  ] as const) {
    assert.equal(text.split(from).length, 2, from)
    text = text.replace(from, to)
  }
  writeFileSync(join(folder, 'item-store.conf'), text)
  const http = 'http { access_log off; include item-store.conf; }'
  writeFileSync(join(folder, 'main.conf'), `daemon off; pid nginx.pid; events {} ${http}\n`)
  return { folder, certificate: readFileSync(pem) }
}
