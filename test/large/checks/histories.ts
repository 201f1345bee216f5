/**
 * `npm run check -- histories --operations 100000`: concurrent operations on single items through two
 * services on one Redis server, with faults; ends with code 1, and prints the histories, when any is not
 * linearizable. Needs `redis-server`.
 */

import { parseArgs } from 'node:util'
import { checkHistories } from '../histories/histories.js'
import { positive, say } from './report.js'

const { values } = parseArgs({
  options: {
    operations: { type: 'string', default: '100000' },
    seed: { type: 'string', default: String((Date.now() % 1_000_000) + 1) },
  },
})
const operations = positive('operations', values.operations)
const seed = positive('seed', values.seed)

const { findings, faults, ...counts } = await checkHistories({ operations, seed })
for (const [name, count] of Object.entries({ seed, ...counts })) say(`${name}: ${count}`)
say(`faults: ${[...faults].map(([name, count]) => `${name} ${count}`).join(', ')}`)
for (const finding of findings.slice(0, 3)) say(`NOT LINEARIZABLE: ${finding}`)
say(findings.length === 0 ? 'all histories are linearizable' : `${findings.length} are not`)
process.exit(findings.length === 0 ? 0 : 1)
