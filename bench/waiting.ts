/**
 * Measures how much memory waiting reads take up, and the response times of other reads. Linux only.
 * First, 10,000 connections read an item each. Then each connection sends a read with
 * `Prefer: wait=60`: one half GET requests for an item, the other half HEAD requests for the list.
 * Resident memory is measured 5 s after each step, but 15 s after the last step.
 */

import { setTimeout as delay } from 'node:timers/promises'
import { residentBytes } from '../test/support/process.js'
import { newAccess } from './lib/access.js'
import { type Request, requests } from './lib/client.js'
import { type Connection, createItems, openConnection, openConnections } from './lib/connections.js'
import { describeMachine } from './lib/machine.js'
import { readOptions } from './lib/options.js'
import { cores, kill, pinSelf } from './lib/processes.js'
import { count, print, report, table } from './lib/results.js'
import { quantile } from './lib/statistics.js'
import { itemStore } from './peers/sides.js'

readOptions('Usage: npm run bench -- waiting [options]   (Linux only)\n\n', {})

const waits = 10_000
const readSeconds = 10
// Pauses between a step and the measurement of memory, in milliseconds. The pause after the last step is longer,
// because the idle service then frees memory.
const settlingTime = 5_000
const idleTime = 15_000

const facts = describeMachine()
pinSelf(cores.load)
const { port, secret, headers } = await newAccess()
const settings = { MAX_CONNECTIONS: String(waits + 1500) }
const programs = await itemStore.start({ port, secret, list: 0, settings })
const rows: string[][] = []
try {
  await measureSteps()
} finally {
  await kill(...programs)
}
report('Waiting', facts, [table(['', 'memory, MB', 'reads: median, ms', '99 %', 'longest'], rows)])

async function measureSteps() {
  const ids = await createItems({ port, headers }, waits, 300)
  if (ids.length < waits) throw new Error('creating the items took too long')
  const reader = await openConnection(port)
  const readOf = (n: number): Request => ({ ...requests.read(ids[n] ?? ''), headers })
  const listHead: Request = { ...requests.list(), method: 'HEAD', headers }

  async function measure(title: string, time = settlingTime) {
    await delay(time)
    const [service] = programs
    const megabytes = (residentBytes({ child: { pid: service?.pid } }) / 1e6).toFixed(1)
    const times = await readOneByOne(reader, readOf(0))
    rows.push([title, megabytes, ...[0.5, 0.99, 1].map((at) => quantile(times, at).toFixed(3))])
    print(`  ${title}: ${megabytes} MB`)
  }

  // In this warm-up, Node.js compiles code, and buffers grow to their final size.
  await readOneByOne(reader, readOf(0))
  const first = await openConnections(port, 1000)
  await Promise.all(first.map((one) => one.ask(readOf(0))))
  for (const one of first) one.close()
  await measure('before')
  const all = await openConnections(port, waits)
  const tags = await Promise.all(all.map(async (one, n) => (await one.ask(readOf(n))).tag))
  const { tag: listTag } = await reader.ask(listHead)
  await measure(`${count(waits)} idle connections`)
  let answered = 0
  const answers = all.map(async (one, n) => {
    const isList = n % 2 === 1
    const tag = (isList ? listTag : tags[n]) ?? ''
    const waitHeaders = { ...headers, 'If-None-Match': tag, Prefer: 'wait=60' }
    const { status } = await one.ask({ ...(isList ? listHead : readOf(n)), headers: waitHeaders })
    if (status !== 200) throw new Error(`a waiting read got status ${status}`)
    answered += 1
  })
  for (const answer of answers) answer.catch(() => {}) // ignores reads whose connection closes during the wait
  await measure(`${count(waits)} waiting reads`)
  if (answered > 0) throw new Error(`${answered} reads did not wait`)
  await createItems({ port, headers }, 1, 10)
  await Promise.all(answers.filter((_, n) => n % 2 === 1))
  await measure('half of them answered')
  for (const one of all) one.close()
  await measure('all closed', idleTime)
}

/** Sends one read after another for `readSeconds` seconds. Returns the response times in milliseconds. */
async function readOneByOne(connection: Connection, read: Request) {
  const times = []
  const end = performance.now() + readSeconds * 1000
  for (let begun = performance.now(); begun < end; ) {
    const { status } = await connection.ask(read)
    if (status !== 200) throw new Error(`a read got status ${status}`)
    const now = performance.now()
    times.push(now - begun)
    begun = now
  }
  return times
}
