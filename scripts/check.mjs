/**
 * `npm run check -- NAME`: a check that runs longer than a test may, for as long as it is told to. Each is a
 * file in `test/large/checks` that says what it does, and exits with code 1 if something is wrong.
 */

import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { makeReady, root } from './ready.mjs'
import { useTemporaryFolder } from './temporary-folder.mjs'

const names = ['changes', 'churn', 'flood', 'fuzz', 'histories', 'shutdowns', 'soak']

const [name = ''] = process.argv.splice(2, 1)
if (!names.includes(name)) {
  process.stderr.write(`npm run check: expected ${names.join(', ')}: npm run check -- soak\n`)
  process.exit(2)
}
makeReady()
useTemporaryFolder()
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))
await import(pathToFileURL(join(root, `build/test/large/checks/${name}.js`)).href)
