/** Side `json-server`: a collection in a JSON file, without tokens; it writes the file on changes. */

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
  leavesOut: ['list-100000'], // its search for an item and its file have to stay small
  requests,
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

  /** The first items are in the file: creating them one by one would write it as many times. */
  async start({ port, items }) {
    const ids = Array.from({ length: items }, () => randomUUID())
    const folder = mkdtempSync(join(scratch, 'json-server-'))
    mkdirSync(join(folder, 'public')) // it wants to serve static files from there
    const file = join(folder, 'db.json')
    writeFileSync(file, `{"items":[${ids.map((id) => itemText(id)).join(',')}]}`)
    const child = await startServer({
      port,
      args: [join(benchFolder, 'peers/json-server-server.mjs'), String(port), file],
      cwd: folder,
      env: { NODE_ENV: 'production' },
    })
    return { programs: [child], ids }
  },
}
