/**
 * Compares the request rates of this service and of other implementations.
 * Each item is 250 bytes of JSON text. Workloads that read a list start with as many items as the
 * list has, all other workloads with 1,000. All servers of a workload run at the same time.
 * Each server has a warm-up of one second. Then the servers take turns under load. A missing
 * response or an error status ends the run. CPU time is the time that Linux reports for a process
 * during a turn, divided by the number of responses.
 */

import { describeLoad } from './lib/load.js'
import { describeMachine } from './lib/machine.js'
import { chosen, integer, readOptions } from './lib/options.js'
import { print, report, table } from './lib/results.js'
import { median } from './lib/statistics.js'
import { type Turn, takeTurns } from './lib/turns.js'
import { workloads as allWorkloads, type Workload } from './lib/workloads.js'
import {
  sides as allSides,
  describeSide,
  isAvailable,
  itemStore,
  itemStoreAt,
  type Side,
} from './peers/sides.js'

const help = `Usage: npm run bench -- [options]   (needs wrk)
       npm run bench -- scale|pages|waiting|stalls [options]

  --only WORKLOADS  ${allWorkloads.map(({ name }) => name).join(', ')} [all]
  --sides SIDES     ${allSides.map(({ name }) => name).join(', ')} [all]
  --against REV     also measure the service at this git revision, built for this run
  --seconds N       length of a turn [3]
  --turns N         turns for each side [3]
`
const options = readOptions(help, {
  only: { type: 'string' },
  sides: { type: 'string' },
  against: { type: 'string' },
  seconds: { type: 'string', default: '3' },
  turns: { type: 'string', default: '3' },
})
const workloads = chosen('only', options.only, allWorkloads)
const wanted = chosen('sides', options.sides, allSides)
const seconds = integer('seconds', options.seconds)
const turns = integer('turns', options.turns)
const facts = [...describeMachine(), describeLoad()]
const revision = options.against === undefined ? undefined : itemStoreAt(options.against)
if (revision) wanted.splice(1, 0, revision)
const sides = wanted.filter(isAvailable)
const longestName = Math.max(...sides.map(({ name }) => name.length))

const results: Map<Workload, Map<Side, Turn[]>> = new Map()
for (const workload of workloads) {
  print(`\n${workload.title}`)
  const ofSides = await takeTurns(workload, sides, { seconds, turns }, ({ name }, number, turn) => {
    const figures = `${shown(turn.rate)}/s, ${turn.cpu.map(micro).join(' + ')} us`
    print(`  turn ${number}  ${name.padEnd(longestName)}  ${figures}`)
  })
  results.set(workload, ofSides)
}

report(
  'Comparisons',
  [...facts, `Turns: ${turns} of ${seconds} s for each side`],
  [
    'Responses per second, median of the turns; a dash where a side is not measured:',
    tableOf((all) => shown(rateOf(all))),
    ...(revision ? ratios(revision) : []),
    'CPU time per request in microseconds, median of the turns; with Redis, service + server:',
    tableOf((all) => cpuOf(all).map(micro).join(' + ')),
    `Largest deviation of one turn from the median of the same server's turns: ${largestDeviation()}.`,
    `The sides:\n\n${wanted.map(describeSide).join('\n')}`,
  ],
)

function tableOf(cell: (turns: Turn[], workload: Workload) => string, columns = sides) {
  const rows = workloads.map((workload) => {
    const cells = columns.map((side) => {
      const measured = results.get(workload)?.get(side)
      return measured ? cell(measured, workload) : '-'
    })
    return [workload.title, ...cells]
  })
  return table(['', ...columns.map(({ name }) => name)], rows)
}

function ratios(revision: Side) {
  const ratio = (all: Turn[], workload: Workload) =>
    (rateOf(results.get(workload)?.get(itemStore) ?? []) / rateOf(all)).toFixed(2)
  return [
    'Throughput of item-store as a multiple of that of the other revision:',
    tableOf(ratio, [revision]),
  ]
}

function largestDeviation() {
  const deviations = [...results].flatMap(([workload, ofSides]) =>
    [...ofSides].map(([{ name }, all]) => {
      const middle = rateOf(all)
      const share = Math.max(...all.map(({ rate }) => Math.abs(rate - middle) / middle))
      return { share, text: `${(share * 100).toFixed(0)} % (${name}, ${workload.title})` }
    }),
  )
  return deviations.toSorted((one, other) => other.share - one.share)[0]?.text
}

function rateOf(all: Turn[]) {
  return median(all.map(({ rate }) => rate))
}

/** Returns the median CPU time per request, in microseconds, of each program that a side consists of. */
function cpuOf(all: Turn[]) {
  return (all[0]?.cpu ?? []).map((_, at) => median(all.map(({ cpu }) => cpu[at] ?? Number.NaN)))
}

function shown(rate: number) {
  const digits = rate < 10 ? 2 : rate < 100 ? 1 : 0
  return rate.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })
}

function micro(microseconds: number) {
  return microseconds.toFixed(1)
}
