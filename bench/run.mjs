/** `npm run bench -- [NAME] [options]`: prepares the checkout and runs a benchmark, by default the comparison. */

import { makeReady } from '../scripts/ready.mjs'

const names = ['compare', 'start', 'scale', 'pages', 'waiting']
const [first = ''] = process.argv.slice(2)
const name = first === '' || first.startsWith('-') ? 'compare' : first

if (names.includes(name)) {
  makeReady()
  // What it imports exists only now.
  await import(`./${name}.mjs`)
} else {
  process.stderr.write(`there is no benchmark ${name}, only ${names.join(', ')}\n`)
  process.exitCode = 2
}
