/**
 * `npm run check -- histories --operations 100000`: concurrent operations on single items through two
 * services on one Redis server, with faults; ends with code 1, and prints the histories, when any is not
 * linearizable. Needs `redis-server`.
 */

import { checkHistories } from '../histories/histories.js'
import { numbers, say } from './report.js'

const { operations, seed } = numbers({
  operations: 100_000,
  seed: (Date.now() % 1_000_000) + 1,
})

const { findings, faults, ...counts } = await checkHistories({ operations, seed })
for (const [name, count] of Object.entries({ seed, ...counts })) say(`${name}: ${count}`)
say(`faults: ${[...faults].map(([name, count]) => `${name} ${count}`).join(', ')}`)
for (const finding of findings.slice(0, 3)) say(`NOT LINEARIZABLE: ${finding}`)
say(findings.length === 0 ? 'all histories are linearizable' : `${findings.length} are not`)
process.exit(findings.length === 0 ? 0 : 1)
