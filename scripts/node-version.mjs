/** Rejects an old Node.js. Scripts may import only names that old versions have too. */

import { readFileSync } from 'node:fs'

const { engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
const [major, minor] = engines.node.replace('>=', '').split('.').map(Number)
const [ownMajor = 0, ownMinor = 0] = process.versions.node.split('.').map(Number)
if (ownMajor < major || (ownMajor === major && ownMinor < minor)) {
  process.stderr.write(
    `item-store: needs Node.js ${major}.${minor} or newer, this is ${process.versions.node}\n`,
  )
  process.exit(2)
}
