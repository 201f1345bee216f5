/**
 * `npm run check -- NAME`: runs a check, which may take longer than a test. Options set the length of the check. A
 * check is a file in `test/large`: either a program in `checks`, or a test that runs with larger numbers than by
 * default. The first comment of the file says what is checked. A check exits with code 1 if something is wrong.
 */

import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { makeReady, root } from './ready.mjs'
import { useTemporaryFolder } from './temporary-folder.mjs'

/** File and default options of each check. Options on the command line override the default options. */
const checks = new Map([
  ['changes', ['changes/changes.test', '--increments=16000', '--creates=100000']],
  [
    'churn',
    ['reliability/churn.test', '--memory=512', '--store=256', '--seconds=30', '--growth=1.5'],
  ],
  ['flood', ['checks/flood']],
  ['fuzz', ['fuzz/fuzz']],
  [
    'histories',
    ['histories/histories.test', '--operations=100000', `--seed=${(Date.now() % 1e6) + 1}`],
  ],
  ['shutdowns', ['reliability/endless-creates.test', '--count=500']],
  ['soak', ['checks/soak']],
])

const [name = ''] = process.argv.splice(2, 1)
const [file, ...options] = checks.get(name) ?? []
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
