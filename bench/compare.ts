/**
 * Compares this service with what people would write instead. Each item is 250 bytes of JSON text, and each store has
 * 1,000 items at the start. All servers of a workload run at the same time. Each server has a warm-up of one second.
 * Then the servers take turns under load. A missing response or an error status ends the run. CPU time is the time that
 * Linux reports for a process during a turn, divided by the number of responses. It depends less than the rate on what
 * else the machine does.
 */

import type { ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createItems } from './lib/connections.js'
import { sendLoad } from './lib/load.js'
import { against, chosen, fail, only, seconds, sides as sideNames, turns } from './lib/options.js'
import { kill, versionOf } from './lib/processes.js'
import { addressed, initialItems, type Request, requests } from './lib/requests.js'
import { count, print, report, table } from './lib/results.js'
import { sides as allSides, installed, itemStoreAt, type Side, startSide } from './peers/sides.js'

interface Workload {
  name: string
  title: string
  connections: number
  requestFor: (id: string) => Request
}

interface Turn {
  rate: number // responses per second
  cpu: number[] // CPU time per request in microseconds, for each program of the side; `NaN` except on Linux
}

const workloads: Workload[] = [
  { name: 'read', title: 'read', connections: 32, requestFor: requests.read },
  { name: 'create', title: 'create', connections: 32, requestFor: () => requests.create() },
  { name: 'list', title: 'list 1,000', connections: 4, requestFor: () => requests.list },
]

const wrk = versionOf('wrk', 'wrk', '-v') ?? fail('wrk is not installed')
const sides = installed(chosen(sideNames, allSides))
if (against !== undefined) sides.splice(1, 0, itemStoreAt(against))

const results: { workload: Workload; ofSides: Map<Side, Turn[]> }[] = []
for (const workload of chosen(only, workloads)) {
  print(`\n${workload.title}`)
  results.push({ workload, ofSides: await takeTurns(workload) })
}

const titles = results.map(({ workload }) => workload.title)
report(
  'Comparisons',
  [`Load: ${wrk}`, `Turns: ${turns} of ${seconds} s for each side`],
  [
    'CPU time per request in microseconds, median of the turns; with Redis, service + server. After it, the share of that ' +
      'time which this service takes:',
    tableOf(
      titles.flatMap((title) => [title, 'share']),
      (all, own) => [micro(cpuOf(all)), (total(own) / total(all)).toFixed(2)],
    ),
    'Responses per second, median of the turns:',
    tableOf(titles, (all) => [count(median(all.map(({ rate }) => rate)))]),
    `Largest deviation of one turn from the median of the same server's turns: ${largestDeviation()}.`,
    `The sides:\n\n${sides.map(({ name, about, version }) => `- ${name}: ${about} (${version})`).join('\n')}`,
  ],
)

async function takeTurns(workload: Workload) {
  const started: { side: Side; turns: Turn[]; take: (time: number) => Promise<Turn> }[] = []
  const running: ChildProcess[] = []
  for (const side of sides) {
    const { server, programs } = await startSide(side)
    running.push(...programs)
    const [id = ''] = await createItems(server, initialItems)
    const request = addressed(server, workload.requestFor(id))
    const take = async (time: number) => {
      const before = programs.map(cpuSeconds)
      const { rate, answers } = await sendLoad(server.port, request, workload.connections, time)
      const cpu = programs.map((program, at) => cpuSeconds(program) - (before[at] ?? 0))
      return { rate, cpu: cpu.map((taken) => (taken / answers) * 1e6) }
    }
    await take(1)
    started.push({ side, turns: [], take })
  }
  for (let number = 1; number <= turns; number += 1) {
    for (const { side, turns, take } of started) {
      const turn = await take(seconds)
      turns.push(turn)
      print(`  turn ${number}  ${side.name}: ${count(turn.rate)}/s, ${micro(turn.cpu)} us`)
    }
  }
  await kill(running)
  return new Map(started.map(({ side, turns }) => [side, turns]))
}

/** Returns the CPU time of a process so far, in seconds (proc(5)). */
function cpuSeconds({ pid }: ChildProcess) {
  if (process.platform !== 'linux') return Number.NaN
  // Skips the process name, which may contain spaces and parentheses.
  const [, fields = ''] = /^.*\) (.*)/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? []
  const [user = 0, system = 0] = fields.split(' ').slice(11).map(Number)
  return (user + system) / 100 // clock ticks; 100 per second on every system with Node.js
}

/** @param cells returns the cells of one workload from the turns of a side, and of the first side */
function tableOf(head: string[], cells: (turns: Turn[], own: Turn[]) => string[]) {
  const rows = sides.map((side) => [
    side.name,
    ...results.flatMap(({ ofSides }) => {
      const [own = []] = ofSides.values()
      return cells(ofSides.get(side) ?? [], own)
    }),
  ])
  return table(['', ...head], rows)
}

function largestDeviation() {
  const deviations = results.flatMap(({ workload, ofSides }) =>
    [...ofSides].map(([{ name }, all]) => {
      const middle = total(all)
      const share = Math.max(...all.map((turn) => Math.abs(total([turn]) - middle) / middle))
      return {
        share,
        text: `${(share * 100).toFixed(0)} % of CPU time (${name}, ${workload.title})`,
      }
    }),
  )
  return deviations.toSorted((one, other) => other.share - one.share)[0]?.text
}

/** Returns the median CPU time per request, in microseconds, of each program that a side consists of. */
function cpuOf(all: Turn[]) {
  return (all[0]?.cpu ?? []).map((_, at) => median(all.map(({ cpu }) => cpu[at] ?? Number.NaN)))
}

function total(all: Turn[]) {
  return cpuOf(all).reduce((sum, time) => sum + time, 0)
}

/** Returns the median; of an even number of turns, the larger of the two in the middle. */
function median(numbers: number[]) {
  return numbers.toSorted((one, other) => one - other)[numbers.length >> 1] ?? Number.NaN
}

function micro(times: number[]) {
  return times.map((time) => time.toFixed(1)).join(' + ')
}
