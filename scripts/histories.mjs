/**
 * `npm run histories -- --operations 100000`: concurrent operations on single items through two services
 * on one Redis server, with faults; ends with code 1, and prints the histories, when any is not
 * linearizable. Needs `redis-server`.
 */

import { parseArgs } from 'node:util'
import { makeReady } from './ready.mjs'

const { values } = parseArgs({
  options: {
    operations: { type: 'string', default: '100000' },
    seed: { type: 'string', default: String((Date.now() % 1_000_000) + 1) },
  },
})
const [operations, seed] = [Number(values.operations), Number(values.seed)]
if (!(operations > 0)) throw new Error(`--operations is "${values.operations}"; expected a number`)
if (!(seed > 0)) throw new Error(`--seed is "${values.seed}"; expected a number above 0`)

makeReady()
const { checkHistories } = await import('../build/test/histories/histories.js')
const { findings, faults, ...counts } = await checkHistories({ operations, seed })
for (const [name, count] of Object.entries({ seed, ...counts })) say(`${name}: ${count}`)
say(`faults: ${[...faults].map(([name, count]) => `${name} ${count}`).join(', ')}`)
for (const finding of findings.slice(0, 3)) say(`NOT LINEARIZABLE: ${finding}`)
say(findings.length === 0 ? 'all histories are linearizable' : `${findings.length} are not`)
process.exit(findings.length === 0 ? 0 : 1)

function say(text) {
  process.stdout.write(`${text}\n`)
}
