/**
 * Compares the memory store with a `Map` of strings for growing numbers of items. Linux only.
 * Items have 250 bytes, and the server handles 16 items in each turn of its event loop. A separate
 * process reads an item every two milliseconds. The time in parentheses is the longest delay of the
 * reading process itself. Memory is resident memory after garbage collection. Processor
 * time is for the store alone.
 */

import { describeMachine } from './lib/machine.js'
import { integer, readOptions } from './lib/options.js'
import { cores, pinSelf } from './lib/processes.js'
import { count, print, report, table } from './lib/results.js'
import { measure, type Result } from './scale/measure.js'

const help = `Usage: npm run bench -- scale [options]   (Linux only)

  --items N,N,...  numbers of items [1000000]; 10,000,000 take 12 GB of memory
`
const options = readOptions(help, { items: { type: 'string', default: '1000000' } })
const fewItems = 100_000 // below, fluctuations of the process's memory hide that of the items
const counts = options.items.split(',').map((text) => integer('items', text, fewItems))
const sides = [
  { side: 'blocks', about: 'the memory store' },
  { side: 'map', about: 'a `Map` of strings' },
] as const

const facts = describeMachine()
pinSelf(cores.load)

const columns: { head: string; result: Result }[] = []
for (const items of counts) {
  for (const { side, about } of sides) {
    print(`  ${side}, ${count(items)} items`)
    const head = `${count(items)}: ${about}`
    columns.push({ head, result: await measure(side, items) })
  }
}

report('Scale', facts, [
  table(
    ['', ...columns.map(({ head }) => head)],
    [
      row('memory of an item beyond its own, bytes', ({ beyond }) => beyond.toFixed(0)),
      row('the same after churn', ({ beyondAfterChurn }) => beyondAfterChurn.toFixed(0)),
      row('memory left when all items are deleted, MB', ({ emptyBytes }) =>
        (emptyBytes / 1e6).toFixed(0),
      ),
      ...(['creating', 'listing', 'churning'] as const).map((phase) =>
        row(`longest wait of a read while ${phase}, ms`, ({ waits }) => {
          const { longest, ownStall } = waits[phase]
          return `${milliseconds(longest)} (${milliseconds(ownStall)})`
        }),
      ),
      row('list, GB/s', ({ bytesPerSecond }) => (bytesPerSecond / 1e9).toFixed(2)),
      ...(['create', 'read', 'churn', 'delete'] as const).map((operation) =>
        row(`processor time: ${operation}, µs`, ({ cpu }) => cpu[operation].toFixed(2)),
      ),
    ],
  ),
])

function row(name: string, cell: (result: Result) => string) {
  return [name, ...columns.map(({ result }) => cell(result))]
}

function milliseconds(time: number) {
  return time.toFixed(time < 10 ? 1 : 0)
}
