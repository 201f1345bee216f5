/** Side `json-server`: a collection in a JSON file, without tokens; writes the file on each change. */

import { randomUUID } from 'node:crypto'
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createWithOwnIds } from '../lib/client.mjs'
import { benchFolder, versionIn } from '../lib/install.mjs'
import { anyId, itemText } from '../lib/item.mjs'
import { scratch, startServer } from '../lib/processes.mjs'

/** @import { Request } from '../lib/client.mjs' */
/** @import { Side } from './sides.mjs' */

/** @type {Request} */
const create = { method: 'POST', path: '/items', body: itemText(anyId), once: 'unused id' }

/** @satisfies {Side} */
export default {
  name: 'json-server',
  about: 'json-server with the items in a file; no token; writes the file on each change',
  token: false,
  skips: ['list-100000'], // it searches all items for one, and writes all of them on a change
  requests: {
    read: (id) => ({ method: 'GET', path: `/items/${id}` }),
    create: () => create,
    replace: (id) => ({ method: 'PUT', path: `/items/${id}`, body: itemText(id) }),
    delete: () => ({ method: 'DELETE', path: `/items/${anyId}`, once: 'existing id' }),
    list: () => ({ method: 'GET', path: '/items' }),
  },
  program,
  version: () => `json-server ${versionIn(join(benchFolder, 'node_modules/json-server'))}`,
  create: ({ port }, count, seconds) => createWithOwnIds(port, create, count, seconds),

  /** The first items are in the file: creating them one by one would write it as many times. */
  async start({ port, items }) {
    const ids = Array.from({ length: items }, () => randomUUID())
    return { programs: [await startServer({ port, ...program({ port, ids }) })], ids }
  },
}

/** @param {{ port: number, ids?: string[] }} options */
function program({ port, ids = [] }) {
  const folder = mkdtempSync(join(scratch, 'json-server-'))
  mkdirSync(join(folder, 'public')) // it expects static files there
  const file = join(folder, 'db.json')
  writeFileSync(file, `{"items":[${ids.map((id) => itemText(id)).join(',')}]}`)
  return {
    args: [join(benchFolder, 'peers/json-server-server.mjs'), String(port), file],
    cwd: folder,
    env: { NODE_ENV: 'production' },
  }
}
