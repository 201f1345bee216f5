/** Side `webdis`: Redis over HTTP, the item's text as the value of a key; no token, no JSON. */

import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { rawRequest, sendAll, upTo } from '../lib/client.mjs'
import { anyId, itemText } from '../lib/item.mjs'
import { isInstalled, scratch, startServer } from '../lib/processes.mjs'
import { redisVersion, startRedis } from '../lib/redis.mjs'

const set = (id) => ({ method: 'PUT', path: `/SET/${id}`, body: itemText(anyId), status: 200 })

export default {
  name: 'webdis',
  about:
    'webdis in front of redis-server, both on the same core: HTTP to GET, SET and DEL; no token',
  token: false,
  leavesOut: ['list-100', 'list-10000', 'list-100000'], // Redis has no command that returns all items
  requests: {
    read: (id) => ({ method: 'GET', path: `/GET/${id}?type=application/json`, status: 200 }),
    create: () => ({ ...set(anyId), lines: 'unused' }),
    replace: set,
    delete: () => ({ method: 'GET', path: `/DEL/${anyId}`, status: 200, lines: 'existing' }),
  },

  version() {
    const redis = redisVersion()
    if (!isInstalled('webdis') || redis === undefined) return undefined
    const webdis = spawnSync('dpkg-query', ['--show', 'webdis'], { encoding: 'utf8' })
    return `webdis ${webdis.stdout?.split('\t')[1]?.trim() ?? '(unknown version)'}, ${redis}`
  },

  async create({ port }, count, seconds) {
    const ids = []
    const createOne = upTo(count, seconds, () => {
      const id = randomUUID()
      return { text: rawRequest(set(id)), answered: () => ids.push(id) }
    })
    await sendAll({ port, connections: 32, next: createOne })
    return ids
  },

  async start({ port }) {
    const folder = mkdtempSync(join(scratch, 'webdis-'))
    const redis = await startRedis()
    const config = join(folder, 'webdis.json')
    writeFileSync(
      config,
      JSON.stringify({
        redis_host: '127.0.0.1',
        redis_port: redis.port,
        http_host: '127.0.0.1',
        http_port: port,
        threads: 1, // there is one core
        daemonize: false,
        verbosity: 0,
        logfile: '/dev/null',
      }),
    )
    const webdis = await startServer({ port, command: 'webdis', args: [config] })
    return { programs: [webdis, redis.program] }
  },
}
