/** The comparison: reads the options, runs the workloads, prints the tables and records them. */

import { buildRevision } from '../lib/builds.mjs'
import { describeMachine } from '../lib/machine.mjs'
import { chosen, integer, readOptions } from '../lib/options.mjs'
import { writeSection } from '../lib/results.mjs'
import itemStore, { itemStoreAt } from '../peers/item-store.mjs'
import { sides as allSides } from '../peers/sides.mjs'
import { describe, failures, shown } from './report.mjs'
import { compare } from './turns.mjs'
import { workloads as allWorkloads } from './workloads.mjs'

const help = `Usage: npm run bench -- [options]

  --only WORKLOADS  ${allWorkloads.map(({ name }) => name).join(', ')} [all]
  --sides SIDES     ${allSides.map(({ name }) => name).join(', ')} [all]
  --against REV     also measure the service as of this git revision, built for this run
  --seconds N       length of a turn [3]
  --turns N         turns for each side [3]
  --no-write        only print; leave bench/RESULTS.md as it is
`
const options = readOptions(
  {
    only: { type: 'string' },
    sides: { type: 'string' },
    against: { type: 'string' },
    seconds: { type: 'string', default: '3' },
    turns: { type: 'string', default: '3' },
    'no-write': { type: 'boolean' },
  },
  help,
)
const workloads = chosen('only', options.only, allWorkloads)
const wanted = [...chosen('sides', options.sides, allSides)]
const seconds = integer('seconds', options.seconds)
const turns = integer('turns', options.turns)
if (options.against !== undefined) {
  const build = buildRevision(options.against)
  wanted.splice(wanted.indexOf(itemStore) + 1, 0, itemStoreAt(build))
}

const versions = new Map(wanted.map((side) => [side, side.version ? side.version() : '']))
const sides = wanted.filter((side) => versions.get(side) !== undefined)
const longestName = Math.max(...sides.map(({ name }) => name.length))

const print = (text) => process.stdout.write(`${text}\n`)
const machine = describeMachine()
for (const line of machine) print(line)

/** By workload and name of the side: the rates of its turns, or what went wrong. */
const results = new Map()
for (const workload of workloads) {
  print(`\n${workload.title}`)
  const onTurn = (side, number, outcome) => {
    const turn = number === 0 ? 'start ' : `turn ${number}`
    const what = typeof outcome === 'number' ? shown(outcome) : outcome
    print(`  ${turn}  ${side.name.padEnd(longestName)}  ${what}`)
  }
  results.set(workload, await compare(workload, sides, { seconds, turns }, onTurn))
}

const report = describe({ machine, workloads, sides, versions, results, seconds, turns })
print(`\n${report}`)
if (!options['no-write']) writeSection('Comparisons', report)
if (failures(results).length > 0) process.exitCode = 1
