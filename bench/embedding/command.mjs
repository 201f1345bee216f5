/** The embedding benchmark: starts and stops one store after the other, with a few items in each. */

import { request } from 'node:http'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { startItemStore } from '../../dist/index.js'
import { commandLine, describeMachine } from '../lib/machine.mjs'
import { residentBytes } from '../lib/memory.mjs'
import { integer, readOptions } from '../lib/options.mjs'
import { table, writeSection } from '../lib/results.mjs'
import { median } from '../lib/statistics.mjs'

const itemsOfEach = 100

const help = `Usage: npm run bench:embedding -- [options]

  --starts N      stores that are started and stopped, one after the other [50]
  --no-write      only print; leave bench/RESULTS.md as it is
`
const options = readOptions(
  { starts: { type: 'string', default: '50' }, 'no-write': { type: 'boolean' } },
  help,
)
const count = integer('starts', options.starts)

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc')

const machine = describeMachine()
const starts = []
const stops = []
const first = await startAndStop()
const before = memory()
for (let number = 0; number < count; number += 1) {
  const { start, stop } = await startAndStop()
  starts.push(start)
  stops.push(stop)
}
const after = memory()

const ms = (number) => number.toFixed(1)
const mebibytes = (bytes) => (bytes / 2 ** 20).toFixed(1)
const report = `
${[...machine, `Command: \`${commandLine('bench:embedding')}\``].map((line) => `- ${line}`).join('\n')}

${table(
  ['milliseconds', 'first', `median of ${count} more`, 'slowest of them'],
  [
    ['`startItemStore()`', ms(first.start), ms(median(starts)), ms(Math.max(...starts))],
    ['`stop()`', ms(first.stop), ms(median(stops)), ms(Math.max(...stops))],
  ],
)}

${table(
  ['MiB, after garbage collection', 'after the first', `after ${count} more`],
  [
    ['JavaScript heap', mebibytes(before.heap), mebibytes(after.heap)],
    ['memory outside of it', mebibytes(before.external), mebibytes(after.external)],
    ['resident', mebibytes(before.resident), mebibytes(after.resident)],
  ],
)}

Between start and stop, each store is given ${itemsOfEach} items over HTTP, and lists them.
`
process.stdout.write(`${report}\n`)
if (!options['no-write']) writeSection('Embedding', report)

/** @returns milliseconds. */
async function startAndStop() {
  const started = performance.now()
  const store = await startItemStore()
  const start = performance.now() - started
  await use(store)
  const stopping = performance.now()
  await store.stop()
  return { start, stop: performance.now() - stopping }
}

async function use(store) {
  const authorization = `Bearer ${await store.token()}`
  for (let item = 0; item < itemsOfEach; item += 1) {
    await ask(store, authorization, 'POST', JSON.stringify({ data: { item } }))
  }
  const { data } = JSON.parse(await ask(store, authorization, 'GET'))
  if (data.length !== itemsOfEach) throw new Error(`listed ${data.length} items`)
}

/** Over a connection of its own: `fetch` keeps a pool for each address for as long as the process runs. */
function ask(store, authorization, method, body = '') {
  const headers = { Authorization: authorization, 'Content-Length': Buffer.byteLength(body) }
  return new Promise((resolve, reject) => {
    const sent = request(`${store.baseUrl}/items`, { method, headers, agent: false })
    sent.on('error', reject).on('response', async (response) => {
      let text = ''
      for await (const chunk of response.setEncoding('utf8')) text += chunk
      resolve(text)
    })
    sent.end(body)
  })
}

function memory() {
  collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  return { heap: heapUsed, external, resident: residentBytes(process.pid) }
}
