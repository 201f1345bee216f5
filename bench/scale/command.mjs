/** The scale run: reads the options, runs the phases, prints the tables and records them. */

import { itemBytes } from '../lib/item.mjs'
import { commandLine, describeMachine } from '../lib/machine.mjs'
import { integer, readOptions } from '../lib/options.mjs'
import { table, writeSection } from '../lib/results.mjs'
import { measure } from './measure.mjs'

const help = `Usage: npm run bench:scale -- [options]   (Linux only)

  --items N           items to create [1000000]
  --churn-seconds N   minimum time to replace and delete at random [60]
  --churn-times N     minimum number of items written meanwhile, as a multiple of --items [0]
  --no-write          only print; leave bench/RESULTS.md as it is
`
const options = readOptions(
  {
    items: { type: 'string', default: '1000000' },
    'churn-seconds': { type: 'string', default: '60' },
    'churn-times': { type: 'string', default: '0' },
    'no-write': { type: 'boolean' },
  },
  help,
)
const items = integer('items', options.items, 1000)
const churn = {
  seconds: integer('churn-seconds', options['churn-seconds']),
  writes: items * integer('churn-times', options['churn-times'], 0),
}

const phases = {
  one: '1 item, no other load',
  growing: 'while the items are created',
  all: 'all items, no other load',
  listing: 'while one client lists everything',
  churning: 'while items are replaced and deleted',
}

const print = (text) => process.stdout.write(`${text}\n`)
const machine = describeMachine()
for (const line of machine) print(line)

const result = await measure({ items, churn }, (phase) => print(`  ${phase}`))
const report = describe(result)
print(`\n${report}`)
if (!options['no-write']) writeSection('Scale', report)

function describe({ memory, list, latency, ...rates }) {
  const perItem = (memory.all - memory.one) / (items - 1)
  return [
    [
      ...machine.map((line) => `- ${line}`),
      `- Date: ${new Date().toISOString().slice(0, 10)}`,
      `- Command: \`${commandLine('bench:scale')}\``,
    ].join('\n'),
    table(
      [`${count(items)} items of ${itemBytes} bytes`, ''],
      [
        ['creates per second', count(rates.createsPerSecond)],
        [
          'one listing of everything',
          `${list.seconds.toFixed(2)} s, ${count(list.bytes / list.seconds / 1e6)} MB/s`,
        ],
        ['replaces, deletes and creates per second', count(rates.churn.perSecond)],
        ['deletes per second', count(rates.deletesPerSecond)],
        ['resident memory with 1 item', megabytes(memory.one)],
        ['resident memory with all items', megabytes(memory.all)],
        [
          `memory of an item beyond its own ${itemBytes} bytes`,
          `${(perItem - itemBytes).toFixed(0)} bytes`,
        ],
        ['maximum additional memory while everything is listed', megabytes(memory.listing)],
        [
          `resident memory after churn (${count(rates.churn.written)} items written in ${count(rates.churn.seconds)} s), and before`,
          `${megabytes(memory.afterChurn)}, ${megabytes(memory.beforeChurn)}`,
        ],
        ['resident memory after all items are deleted', megabytes(memory.none)],
        [
          'median latency of a read with all items, and with 1',
          `${milliseconds(latency.all.p50)} ms, ${milliseconds(latency.one.p50)} ms`,
        ],
      ],
    ),
    'Latency of single reads, in milliseconds:',
    table(
      ['', 'reads', 'p50', 'p99', 'p99.9', 'max', 'own stall'],
      Object.entries(latency).map(([phase, { reads, p50, p99, p999, max, ownStall }]) => [
        phases[phase],
        count(reads),
        ...[p50, p99, p999, max, ownStall].map(milliseconds),
      ]),
    ),
    'How it is measured: a process with a connection of its own reads one item every two ' +
      'milliseconds; reads that are delayed by a late response count with the time they would ' +
      'have waited. "Own stall" is the longest time for which that process itself was delayed, ' +
      'which the server did not cause. The load sends one request at a time over each of 16 ' +
      'connections, at lower priority on the same core as the probe. Before memory is first read, ' +
      '2,000 items are created, listed, replaced and deleted to warm up the process; memory is ' +
      'read three seconds after each phase. Items that churn are 200 to 300 bytes long. One client ' +
      'lists everything for at least five seconds and at least three times; the time is the median.',
  ].join('\n\n')
}

function count(number) {
  return Math.round(number).toLocaleString('en')
}

function megabytes(bytes) {
  return `${(bytes / 1e6).toFixed(0)} MB`
}

function milliseconds(microseconds) {
  return (microseconds / 1000).toFixed(microseconds < 10_000 ? 2 : 0)
}
