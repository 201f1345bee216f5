/** `npm run bench -- [NAME] [options]`: runs a benchmark. Without a name, runs all of them, in about 10 minutes. */

import { join } from 'node:path'
import { install, makeReady, root, run } from '../scripts/ready.mjs'
import { useTemporaryFolder } from '../scripts/temporary-folder.mjs'

const names = ['compare', 'stalls', 'scale']
const [first = '-', ...rest] = process.argv.slice(2)
const args = first.startsWith('-') ? process.argv.slice(2) : rest
const chosen = first.startsWith('-') ? names : names.filter((name) => name === first)

if (chosen.length === 0) {
  process.stderr.write(`there is no benchmark ${first}, only ${names.join(', ')}\n`)
  process.exit(2)
}
makeReady()
install('bench/peers')
run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '--project', 'bench'])
useTemporaryFolder()
process.once('SIGINT', () => undefined) // Ctrl-C ends the benchmark, then this process removes the folder
// Each has its own process, because a benchmark may pin its process to a core.
for (const name of chosen) run(process.execPath, [join(root, `build/bench/${name}.js`), ...args])
