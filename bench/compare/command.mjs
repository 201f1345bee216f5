/** The comparisons: reads the options, runs the works, prints the tables and writes them. */

import { describeMachine } from '../lib/machine.mjs'
import { chosen, integer, readOptions } from '../lib/options.mjs'
import { writeSection } from '../lib/results.mjs'
import { sides as allSides } from '../peers/sides.mjs'
import { describe, failures, shown } from './report.mjs'
import { compare } from './turns.mjs'
import { works as allWorks } from './works.mjs'

const help = `Usage: npm run bench -- [options]

  --only WORKS     ${allWorks.map(({ name }) => name).join(', ')} [all]
  --sides SIDES    ${allSides.map(({ name }) => name).join(', ')} [all]
  --seconds N      length of a turn [3]
  --turns N        turns of each side [3]
  --no-write       only print; leave bench/RESULTS.md as it is
`
const options = readOptions(
  {
    only: { type: 'string' },
    sides: { type: 'string' },
    seconds: { type: 'string', default: '3' },
    turns: { type: 'string', default: '3' },
    'no-write': { type: 'boolean' },
  },
  help,
)
const works = chosen('only', options.only, allWorks)
const wanted = chosen('sides', options.sides, allSides)
const seconds = integer('seconds', options.seconds)
const turns = integer('turns', options.turns)

const versions = new Map(wanted.map((side) => [side, side.version ? side.version() : '']))
const sides = wanted.filter((side) => versions.get(side) !== undefined)

const print = (text) => process.stdout.write(`${text}\n`)
const machine = describeMachine()
for (const line of machine) print(line)

/** By work and name of the side: the rates of its turns, or what went wrong. */
const results = new Map()
for (const work of works) {
  print(`\n${work.title}`)
  const onTurn = (side, number, outcome) => {
    const turn = number === 0 ? 'start ' : `turn ${number}`
    const what = typeof outcome === 'number' ? shown(outcome) : outcome
    print(`  ${turn}  ${side.name.padEnd(12)}  ${what}`)
  }
  results.set(work, await compare(work, sides, { seconds, turns }, onTurn))
}

const report = describe({ machine, works, sides, versions, results, seconds, turns })
print(`\n${report}`)
if (!options['no-write']) writeSection('Comparisons', report)
if (failures(results).length > 0) process.exitCode = 1
