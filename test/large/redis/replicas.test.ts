/** Tests services behind deploy/replicas/nginx.conf that share a Redis server. */

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { create } from '../../conformance/expect.js'
import { configureNginx, startNginx } from '../../support/nginx.js'
import { healthyAt, ownService } from '../../support/own-service.js'
import { freePort } from '../../support/process.js'
import { describeWithRedis, startedRedis } from '../../support/redis.js'
import { programTest } from '../../support/tools.js'

describeWithRedis('replicas of the service', () => {
  programTest('nginx', 'nginx finds running services, each with all items', async (nginx) => {
    const redis = await startedRedis()
    const JWT_SECRET = randomBytes(32).toString('base64url')
    const env = { STORE_URL: redis.url, STORE_TIMEOUT: '20s', JWT_SECRET }
    const replicas = [await ownService(env), await ownService(env), await ownService(env)]
    const port = await freePort()
    const servers = replicas.map(({ baseUrl }) => `server ${baseUrl.host}`).join('; ')
    const configured = configureNginx('deploy/replicas/nginx.conf', [
      ['listen 80;', `listen 127.0.0.1:${port};`],
      ['server item-store:8000', servers],
    ])
    startNginx(nginx, configured)
    const service = await healthyAt(port, JWT_SECRET)

    for (const replica of replicas) {
      const { id } = await create(service, {})
      for (let n = 0; n < 6; n += 1) {
        assert.equal((await service.call('GET', `/items/${id}`)).status, 200)
      }
      if (replica !== replicas.at(-1)) await replica.stop()
    }
  })
})
