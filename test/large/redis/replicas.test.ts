/** Replicas behind nginx, with the configuration in deploy/replicas/nginx.conf. */

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serviceAt } from '../../conformance/client.js'
import { create } from '../../conformance/expect.js'
import { ownProcess } from '../../support/own-process.js'
import { ownService } from '../../support/own-service.js'
import { freePort } from '../../support/process.js'
import { programTest } from '../../support/program-test.js'
import { describeWithRedis, ownRedis } from '../../support/redis.js'
import { root } from '../../support/tools.js'
import { until } from '../../support/until.js'

describeWithRedis('replicas', () => {
  programTest('nginx', 'nginx asks whichever is there, and each has all items', async (nginx) => {
    const redis = ownRedis()
    await redis.start()
    const JWT_SECRET = randomBytes(32).toString('base64url')
    const env = { STORE_URL: redis.url, STORE_TIMEOUT: '20s', JWT_SECRET }
    const replicas = [await ownService(env), await ownService(env), await ownService(env)]
    const port = await freePort()
    const servers = replicas.map(({ baseUrl }) => `server ${baseUrl.host} max_fails`).join('=1; ')
    const folder = configure([
      ['listen 80;', `listen 127.0.0.1:${port};`],
      ['server item-store:8000 max_fails', servers],
    ])
    ownProcess([nginx, '-e', 'stderr', '-p', folder, '-c', 'main.conf'], {
      cwd: folder,
      env: process.env,
    })
    const service = serviceAt(new URL(`http://127.0.0.1:${port}/api/v1`), JWT_SECRET)
    await until('nginx serves', () => service.call('GET', '/health').catch(() => undefined))

    for (const replica of replicas) {
      const { id } = await create(service, {})
      for (let n = 0; n < 6; n += 1) {
        assert.equal((await service.call('GET', `/items/${id}`)).status, 200)
      }
      if (replica !== replicas.at(-1)) await replica.stop()
    }
  })
})

/** A folder with the configuration, changed in places that each are there once. */
function configure(changes: [from: string, to: string][]): string {
  const folder = mkdtempSync(join(tmpdir(), 'item-store-nginx-'))
  chmodSync(folder, 0o755) // for the workers of nginx, which are another user than root
  let text = readFileSync(join(root, 'deploy/replicas/nginx.conf'), 'utf8')
  for (const [from, to] of changes) {
    assert.equal(text.split(from).length, 2, from)
    text = text.replace(from, to)
  }
  writeFileSync(join(folder, 'item-store.conf'), text)
  const http = 'http { access_log off; include item-store.conf; }'
  writeFileSync(join(folder, 'main.conf'), `daemon off; pid nginx.pid; events {} ${http}\n`)
  return folder
}
