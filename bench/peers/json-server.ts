/** Side `json-server`: the json-server program, which keeps its items in a file. */

import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../../test/support/tools.js'
import { itemText } from '../lib/item.js'
import { scratch, startServer } from '../lib/processes.js'
import type { Side } from './sides.js'

const folder = join(root, 'tools/node_modules/json-server')
const idOf = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`

export default {
  name: 'json-server',
  about: 'json-server with one file, which it writes after each change; no tokens',
  create: async (_server, count) => Array.from({ length: count }, (_, number) => idOf(number)),

  version() {
    const { version }: { version: string } = JSON.parse(
      readFileSync(join(folder, 'package.json'), 'utf8'),
    )
    return `json-server ${version}`
  },

  async start({ port, list }) {
    const file = join(mkdtempSync(join(scratch, 'json-server-')), 'db.json')
    const items = Array.from({ length: Math.max(list, 1) }, (_, number) => itemText(idOf(number)))
    writeFileSync(file, `{"health":{"status":"healthy"},"items":[${items.join(',')}]}`)
    const args = [join(folder, 'lib/bin.js'), file, '--host', '127.0.0.1', '--port', String(port)]
    return [await startServer({ port, args })]
  },
} satisfies Side
