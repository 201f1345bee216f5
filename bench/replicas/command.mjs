/** The comparison of stores and numbers of processes: reads the options, prints the tables and records them. */

import { availableParallelism } from 'node:os'
import { workloads as allWorkloads } from '../compare/workloads.mjs'
import { commandLine, describeMachine, wrkVersion } from '../lib/machine.mjs'
import { chosen, fail, integer, readOptions } from '../lib/options.mjs'
import { redisVersion } from '../lib/redis.mjs'
import { table, writeSection } from '../lib/results.mjs'
import { median } from '../lib/statistics.mjs'
import { engineCore, measure, serviceCores } from './measure.mjs'

const [read] = allWorkloads
const workloads = [
  read,
  { ...read, name: 'read-alone', title: 'read over one connection', connections: 1 },
  ...['create', 'replace', 'list-10000'].map((name) =>
    allWorkloads.find((one) => one.name === name),
  ),
]

const memory = { name: 'memory', workers: 1, hasEngine: false }
const one = { name: 'engine', workers: 1, hasEngine: true }
const two = { name: 'engine, 2 workers', workers: 2, hasEngine: true }
const sides = [memory, one, two]

const help = `Usage: npm run bench:replicas -- [options]   (Linux only; needs wrk and redis-server)

  --only WORKLOADS  ${workloads.map(({ name }) => name).join(', ')} [all]
  --seconds N       length of a turn [3]
  --turns N         turns for each side [5]
  --no-write        only print; leave bench/RESULTS.md as it is
`
const options = readOptions(
  {
    only: { type: 'string' },
    seconds: { type: 'string', default: '3' },
    turns: { type: 'string', default: '5' },
    'no-write': { type: 'boolean' },
  },
  help,
)
const wanted = chosen('only', options.only, workloads)
const seconds = integer('seconds', options.seconds)
const turns = integer('turns', options.turns)
const engine = redisVersion() ?? fail('redis-server is not installed')

const print = (text) => process.stdout.write(`${text}\n`)
const machine = describeMachine()
for (const line of machine) print(line)

/** By workload: by side, the medians of what its turns have measured. */
const results = []
for (const workload of wanted) {
  print(`\n${workload.title}`)
  const bySide = await measure(workload, sides, { seconds, turns }, ({ name }, number, turn) =>
    print(`  turn ${number}  ${name.padEnd(two.name.length)}  ${describeTurn(turn)}`),
  )
  const medians = new Map([...bySide].map(([side, measured]) => [side, middle(measured)]))
  results.push({ workload, medians })
}
const report = describe()
print(`\n${report}`)
if (!options['no-write']) writeSection('Replicas', report)

function middle(measured) {
  const of = (name) => median(measured.map((turn) => turn[name]))
  return { rate: of('rate'), service: of('service'), engine: of('engine') }
}

function describeTurn({ rate, service, engine }) {
  return `${count(rate)}/s, ${micro(service)} us of the service, ${micro(engine)} us of the engine`
}

function describe() {
  const row = (cells) => results.map(({ workload, medians }) => [workload.title, ...cells(medians)])
  const each = (medians, cell) => sides.map((side) => cell(medians.get(side)))
  const names = sides.map(({ name }) => name)
  const cores = availableParallelism()
  return [
    [
      ...machine.map((line) => `- ${line}`),
      `- Cores: service ${serviceCores.join(' and ')}, engine ${engineCore}, load 1`,
      `- Engine: ${engine}, nothing kept on disk`,
      `- Load: wrk ${wrkVersion()}`,
      `- Date: ${new Date().toISOString().slice(0, 10)}`,
      `- Command: \`${commandLine('bench:replicas')}\` (turns of ${seconds} s, ${turns} for each side)`,
    ].join('\n'),
    'Responses per second, median of the turns:',
    table(
      ['', ...names],
      row((medians) => each(medians, ({ rate }) => count(rate))),
    ),
    'Processor time of one request in the service, and in the engine, in microseconds:',
    table(
      ['', ...names, 'engine itself'],
      row((medians) => [
        ...each(medians, ({ service }) => micro(service)),
        micro(medians.get(one).engine),
      ]),
    ),
    'Throughput per core of the service, as a multiple of that of the store in memory, and of two ' +
      'workers as a multiple of that of one:',
    table(
      ['', 'engine per core', '2 workers per core', '2 workers to 1'],
      row((medians) => [
        ratio(medians.get(memory).service, medians.get(one).service),
        ratio(medians.get(memory).service, medians.get(two).service),
        ratio(medians.get(two).rate, medians.get(one).rate),
      ]),
    ),
    'How it is measured: workloads and items are those of the comparisons above; reads over one ' +
      'connection show the time of a request that waits for no other. Processor time is what Linux ' +
      'counts for all processes of the service, and for the engine, in a turn, divided by the ' +
      'responses. Two workers to one says something only where service, engine and load have ' +
      `cores of their own, which takes four; this machine has ${cores}.`,
  ].join('\n\n')
}

function ratio(a, b) {
  return (a / b).toFixed(2)
}

function count(number) {
  return Math.round(number).toLocaleString('en')
}

function micro(number) {
  return number.toFixed(1)
}
