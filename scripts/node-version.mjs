/** Rejects old Node.js versions. Scripts may import only what old versions export, to reach this check. */

import { readFileSync } from 'node:fs'

const { engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
const oldest = engines.node.replace(/^>=|\.0$/g, '')
const own = process.versions.node
if (own.localeCompare(oldest, 'en', { numeric: true }) < 0) {
  process.stderr.write(`item-store: needs Node.js ${oldest} or newer, this is ${own}\n`)
  process.exit(2)
}
