/**
 * Compares this service with what people would write instead. Each item is 250 bytes of JSON text, and each store has
 * 1,000 items at the start. All servers of a workload run at the same time. Each server has a warm-up of one second.
 * Then the servers take turns under load. A missing response or an error status ends the run. CPU time is the time that
 * Linux reports for a process during a turn, divided by the number of responses. It depends less than the rate on what
 * else the machine does.
 */

import { describeLoad } from './lib/load.js'
import { describeMachine } from './lib/machine.js'
import { chosen, integer, readOptions } from './lib/options.js'
import { count, print, report, table } from './lib/results.js'
import { median } from './lib/statistics.js'
import { workloads as allWorkloads, type Turn, takeTurns, type Workload } from './lib/turns.js'
import {
  sides as allSides,
  describeSide,
  isAvailable,
  itemStore,
  itemStoreAt,
  type Side,
} from './peers/sides.js'

const help = `Usage: npm run bench                          all benchmarks
       npm run bench -- compare [options]     (needs wrk)
       npm run bench -- stalls|scale|pages [options]

  --only WORKLOADS  ${allWorkloads.map(({ name }) => name).join(', ')} [all]
  --sides SIDES     ${allSides.map(({ name }) => name).join(', ')} [all]
  --against REV     also measure the service at this git revision, built for this run
  --seconds N       length of a turn [2]
  --turns N         turns for each side [3]
`
const options = readOptions(help, {
  only: { type: 'string' },
  sides: { type: 'string' },
  against: { type: 'string' },
  seconds: { type: 'string', default: '2' },
  turns: { type: 'string', default: '3' },
})
const workloads = chosen('only', options.only, allWorkloads)
const wanted = chosen('sides', options.sides, allSides)
const seconds = integer('seconds', options.seconds)
const turns = integer('turns', options.turns)
const facts = [...describeMachine(), describeLoad()]
if (options.against !== undefined) wanted.splice(1, 0, itemStoreAt(options.against))
const sides = wanted.filter(isAvailable)

const results: Map<Workload, Map<Side, Turn[]>> = new Map()
for (const workload of workloads) {
  print(`\n${workload.title}`)
  const ofSides = await takeTurns(workload, sides, { seconds, turns }, ({ name }, number, turn) => {
    print(`  turn ${number}  ${name}: ${count(turn.rate)}/s, ${turn.cpu.map(micro).join(' + ')} us`)
  })
  results.set(workload, ofSides)
}

const titles = workloads.map(({ title }) => title)
report(
  'Comparisons',
  [...facts, `Turns: ${turns} of ${seconds} s for each side`],
  [
    'CPU time per request in microseconds, median of the turns; with Redis, service + server. After it, the share of that ' +
      'time which this service takes:',
    tableOf(
      titles.flatMap((title) => [title, 'share']),
      (all, own) => [
        cpuOf(all).map(micro).join(' + '),
        own.length > 0 ? (total(own) / total(all)).toFixed(2) : '-',
      ],
    ),
    'Responses per second, median of the turns:',
    tableOf(titles, (all) => [count(rateOf(all))]),
    `Largest deviation of one turn from the median of the same server's turns: ${largestDeviation()}.`,
    `The sides:\n\n${wanted.map(describeSide).join('\n')}`,
  ],
)

/** @param cells returns the cells of one workload from the turns of a side, and of this service */
function tableOf(head: string[], cells: (turns: Turn[], own: Turn[]) => string[]) {
  const rows = sides.map((side) => [
    side.name,
    ...[...results.values()].flatMap((of) => cells(of.get(side) ?? [], of.get(itemStore) ?? [])),
  ])
  return table(['', ...head], rows)
}

function largestDeviation() {
  const deviations = [...results].flatMap(([{ title }, ofSides]) =>
    [...ofSides].map(([{ name }, all]) => {
      const middle = total(all)
      const share = Math.max(...all.map((turn) => Math.abs(total([turn]) - middle) / middle))
      return { share, text: `${(share * 100).toFixed(0)} % of CPU time (${name}, ${title})` }
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

function total(all: Turn[]) {
  return cpuOf(all).reduce((sum, time) => sum + time, 0)
}

function micro(microseconds: number) {
  return microseconds.toFixed(1)
}
