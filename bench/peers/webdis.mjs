/** Side `webdis`: Redis over HTTP, the item's text as the value of a key; no token, no JSON. */

import { spawnSync } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createWithOwnIds } from '../lib/client.mjs'
import { anyId, itemText } from '../lib/item.mjs'
import { isInstalled, scratch, startServer } from '../lib/processes.mjs'
import { redisVersion, startRedis } from '../lib/redis.mjs'

/** @import { Request } from '../lib/client.mjs' */
/** @import { Side } from './sides.mjs' */

/** @type {(id: string) => Request} */
const set = (id) => ({ method: 'PUT', path: `/SET/${id}`, body: itemText(anyId) })

/** @type {Side} */
export default {
  name: 'webdis',
  about:
    'webdis in front of redis-server, both on the same core: HTTP to GET, SET and DEL; no token',
  token: false,
  requests: {
    // No list: Redis has no command that returns all items.
    read: (id) => ({ method: 'GET', path: `/GET/${id}?type=application/json` }),
    create: () => ({ ...set(anyId), once: 'unused id' }),
    replace: set,
    delete: () => ({ method: 'GET', path: `/DEL/${anyId}`, once: 'existing id' }),
  },
  create: ({ port }, count, seconds) => createWithOwnIds(port, set(anyId), count, seconds),

  version() {
    const redis = redisVersion()
    if (!isInstalled('webdis') || redis === undefined) return undefined
    const { stdout } = spawnSync('dpkg-query', ['--show', 'webdis'], { encoding: 'utf8' })
    return `webdis ${stdout?.split('\t')[1]?.trim() ?? '(unknown version)'}, ${redis}`
  },

  async start({ port }) {
    const redis = await startRedis()
    const config = join(mkdtempSync(join(scratch, 'webdis-')), 'webdis.json')
    const settings = {
      redis_host: '127.0.0.1',
      redis_port: redis.port,
      http_host: '127.0.0.1',
      http_port: port,
      threads: 1, // there is one core
      daemonize: false,
      verbosity: 0,
      logfile: '/dev/null',
    }
    writeFileSync(config, JSON.stringify(settings))
    const webdis = await startServer({ port, command: 'webdis', args: [config] })
    return { programs: [webdis, redis.program] }
  },
}
