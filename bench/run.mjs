/** `npm run bench -- [NAME] [options]`: runs a benchmark. Without arguments, runs all of them, in about 10 minutes. */

import { join } from 'node:path'
import { install, makeReady, root, run } from '../scripts/ready.mjs'

const names = ['compare', 'stalls', 'scale', 'pages']
const args = process.argv.slice(2)
const [first = ''] = args
const chosen = first === '' ? names : [first.startsWith('-') ? 'compare' : first]

if (chosen.every((name) => names.includes(name))) {
  makeReady()
  if (chosen.includes('pages')) install('tools')
  if (chosen.includes('compare') || chosen.includes('stalls')) install('bench/peers')
  run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '--project', 'bench'])
  // Each has its own process, because a benchmark may pin its process to a core.
  for (const name of chosen) run(process.execPath, [join(root, `build/bench/${name}.js`), ...args])
} else {
  process.stderr.write(`there is no benchmark ${first}, only ${names.join(', ')}\n`)
  process.exitCode = 2
}
