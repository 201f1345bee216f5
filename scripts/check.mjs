/** `npm run check -- NAME`: runs one of the long checks in `test/large`. */

import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { makeReady, root } from './ready.mjs'
import { useTemporaryFolder } from './temporary-folder.mjs'

/** Each check's file in `test/large`, with its default options. */
const checks = new Map([
  ['churn', 'reliability/churn.test --memory=512 --store=256 --seconds=30 --growth=1.5'],
  ['flood', 'checks/flood'],
  ['fuzz', 'fuzz/fuzz'],
  ['histories', `histories/histories.test --operations=100000 --seed=${(Date.now() % 1e6) + 1}`],
  ['shutdowns', 'reliability/endless-creates.test --count=500'],
])

const [name = ''] = process.argv.splice(2, 1)
const [file, ...options] = checks.get(name)?.split(' ') ?? []
if (file === undefined) {
  const names = [...checks.keys()].join(', ')
  process.stderr.write(`npm run check -- NAME: NAME must be one of ${names}\n`)
  process.exit(2)
}
process.argv.splice(2, 0, ...options)
makeReady()
useTemporaryFolder()
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))
await import(pathToFileURL(join(root, `build/test/large/${file}.js`)).href)
