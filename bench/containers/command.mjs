/** Reads the options, finds the smallest container for each number of items, and prints the table. */

import { describeMachine } from '../lib/machine.mjs'
import { readOptions } from '../lib/options.mjs'
import { table } from '../lib/results.mjs'
import { attempt } from './attempt.mjs'

const help = `Usage: node bench/containers.mjs [--items N,N,...] [--bytes N,N,...]   (Linux only)

Prints the table of docs/operations/containers.md.
`
const mebibyte = 1024 ** 2
/** Sizes that people give to containers, in MiB. */
const sizes = [96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192]
/** What the store counts for an item besides its text, see docs/interface.md §8. */
const bytesBeyondText = 64

const options = readOptions(
  {
    items: { type: 'string', default: '10000,100000,1000000' },
    bytes: { type: 'string', default: '250,1000' },
  },
  help,
)
const numbers = (list) => list.split(',').map(Number)
const print = (text) => process.stdout.write(`${text}\n`)

for (const line of describeMachine()) print(line)
const rows = []
for (const bytes of numbers(options.bytes)) {
  for (const items of numbers(options.items)) {
    rows.push(row({ items, bytes, ...(await smallest(items, bytes)) }))
  }
}
const head = ['items', 'bytes each', 'resident, idle', 'resident, peak', 'memory of the container']
print(`\n${table(head, rows)}`)

/** The smallest container in which the whole load succeeds, and its memory meanwhile. */
async function smallest(items, bytes) {
  // Half of the memory holds items by default, so smaller ones are refused at the latest when full.
  const possible = sizes.filter((size) => (size * mebibyte) / 2 > items * (bytes + bytesBeyondText))
  for (const size of possible) {
    const { failure, ...memory } = await attempt({ items, bytes, size })
    const what = `${items} items of ${bytes} bytes in ${size} MiB`
    print(failure ? `  ${what}: ${failure}` : `  ${what}: peak ${mebibytes(memory.peak)}`)
    if (!failure) return { size, ...memory }
  }
  throw new Error(`${items} items of ${bytes} bytes fit into no container`)
}

function row({ items, bytes, idle, peak, size }) {
  return [
    items.toLocaleString('en'),
    bytes.toLocaleString('en'),
    mebibytes(idle),
    mebibytes(peak),
    `${size} MiB`,
  ]
}

function mebibytes(bytes) {
  return `${Math.ceil(bytes / mebibyte)} MiB`
}
