/** Side `json-server`: a collection in a JSON file, without tokens; writes the file on each change. */

import { randomUUID } from 'node:crypto'
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { rawRequest, sendAll, upTo } from '../lib/client.mjs'
import { benchFolder } from '../lib/install.mjs'
import { anyId, itemText } from '../lib/item.mjs'
import { scratch, startServer } from '../lib/processes.mjs'
import { packageVersion } from '../lib/versions.mjs'

const requests = {
  read: (id) => ({ method: 'GET', path: `/items/${id}`, status: 200 }),
  create: () => ({
    method: 'POST',
    path: '/items',
    body: itemText(anyId),
    status: 201,
    lines: 'unused',
  }),
  replace: (id) => ({ method: 'PUT', path: `/items/${id}`, body: itemText(id), status: 200 }),
  delete: () => ({ method: 'DELETE', path: `/items/${anyId}`, status: 200, lines: 'existing' }),
  list: () => ({ method: 'GET', path: '/items', status: 200 }),
}

export default {
  name: 'json-server',
  about: 'json-server with the items in a file; no token; writes the file on each change',
  token: false,
  leavesOut: ['list-100000'], // it searches all items for one, and writes all of them on a change
  requests,
  program,
  version: () => `json-server ${packageVersion('json-server')}`,

  async create({ port }, count, seconds) {
    const ids = []
    const createOne = upTo(count, seconds, () => {
      const id = randomUUID()
      const text = rawRequest({ ...requests.create(), body: itemText(id) })
      return { text, answered: () => ids.push(id) }
    })
    await sendAll({ port, connections: 32, next: createOne })
    return ids
  },

  async start({ port, items }) {
    const ids = Array.from({ length: items }, () => randomUUID())
    return { programs: [await startServer({ port, ...program({ port, ids }) })], ids }
  },
}

/** The first items are in the file: creating them one by one would write it as many times. */
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
