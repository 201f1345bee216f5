/** `npm run bench -- [NAME] [options]`: runs a benchmark, by default `compare`. */

import { join } from 'node:path'
import { install, makeReady, root, run } from '../scripts/ready.mjs'

const names = ['compare', 'scale', 'pages', 'waiting', 'stalls']
const [first = ''] = process.argv.slice(2)
const name = first === '' || first.startsWith('-') ? 'compare' : first

if (names.includes(name)) {
  makeReady()
  if (['pages', 'stalls'].includes(name)) install('tools')
  run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '--project', 'bench'])
  await import(`../build/bench/${name}.js`)
} else {
  process.stderr.write(`there is no benchmark ${name}, only ${names.join(', ')}\n`)
  process.exitCode = 2
}
