/**
 * Measures the memory of waiting reads, and the response times of other reads. Linux only.
 * First, 10,000 connections read an item each. Then 10,000 reads with `Prefer: wait=60` follow,
 * one on each connection. Half of these reads GET an item, the other half HEAD the list. Resident
 * memory is measured 5 s after each step, but 15 s after the last step.
 */

import { setTimeout as delay } from 'node:timers/promises'
import { residentBytes } from '../test/support/process.js'
import { newAccess } from './lib/access.js'
import { type Request, requests } from './lib/client.js'
import { type Connection, createItems, openConnections } from './lib/connections.js'
import { describeMachine } from './lib/machine.js'
import { readOptions } from './lib/options.js'
import { cores, pinSelf, stop } from './lib/processes.js'
import { count, print, report, table } from './lib/results.js'
import { quantile } from './lib/statistics.js'
import itemStore from './peers/item-store.js'

const help = `Usage: npm run bench -- waiting [options]   (Linux only)

`
readOptions(help, {})

const waits = 10_000
const readSeconds = 10
/** Time from a step to the measurement of memory, in ms. Only an idle service frees memory. */
const settlingTime = 5_000
/** Time from the last step to the measurement of memory, in milliseconds. */
const idleTime = 15_000

const facts = describeMachine()
for (const fact of facts) print(fact)
pinSelf(cores.load)
const phases = await waiting()
report('Waiting', {
  facts,
  parts: [
    table(
      ['', 'memory, MB', 'reads: median, ms', '99 %', 'longest'],
      phases.map(({ title, bytes, times }) => [
        title,
        (bytes / 1e6).toFixed(1),
        ...[0.5, 0.99, 1].map((share) => quantile(times, share).toFixed(3)),
      ]),
    ),
  ],
})

async function waiting() {
  const { port, headers, service, ids } = await start()
  const path = requests.read(ids[0] ?? '').path
  const [reader] = await openConnections(port, 1)
  if (reader === undefined) throw new Error('there is no connection')
  const phases: { title: string; bytes: number; times: number[] }[] = []
  const measure = async (title: string, time = settlingTime) => {
    await delay(time)
    const bytes = residentBytes({ child: service })
    const times = await readOneByOne(reader, { method: 'GET', path, headers })
    phases.push({ title, bytes, times })
    print(`  ${title}: ${(bytes / 1e6).toFixed(1)} MB`)
  }
  try {
    // During the warm-up, Node.js compiles code, and buffers grow to their final size.
    await readOneByOne(reader, { method: 'GET', path, headers })
    const first = await openConnections(port, 1000)
    await Promise.all(first.map((one) => one.ask({ method: 'GET', path, headers })))
    for (const one of first) one.close()
    await measure('before')
    const all = await openConnections(port, waits)
    const tags = await Promise.all(
      all.map((one, n) => one.ask({ ...requests.read(ids[n] ?? ''), headers })),
    )
    const { tag: listTag } = await reader.ask({ ...requests.list(), method: 'HEAD', headers })
    await measure(`${count(waits)} idle connections`)
    let answered = 0
    const answers = all.map((one, n) => {
      const isList = n % 2 === 1
      const read = isList ? { ...requests.list(), method: 'HEAD' } : requests.read(ids[n] ?? '')
      const tag = isList ? listTag : (tags[n]?.tag ?? '')
      const waitHeaders = { ...headers, 'If-None-Match': tag, Prefer: 'wait=60' }
      return one.ask({ ...read, headers: waitHeaders }).then(({ status }) => {
        if (status !== 200) throw new Error(`a waiting read got status ${status}`)
        answered += 1
      })
    })
    for (const answer of answers) answer.catch(() => {}) // ignores reads whose connection closes during the wait
    await measure(`${count(waits)} waiting reads`)
    if (answered > 0) throw new Error(`${answered} reads did not wait`)
    await createItems({ port, headers }, 1, 10)
    await Promise.all(answers.filter((_, n) => n % 2 === 1))
    await measure('half of them answered')
    for (const one of all) one.close()
    await measure('all closed', idleTime)
    return phases
  } finally {
    reader.close()
    await stop(service)
  }
}

async function start() {
  const { port, secret, headers } = await newAccess()
  const settings = { MAX_CONNECTIONS: String(waits + 1500) }
  const [service] = await itemStore.start({ port, secret, list: 0, settings })
  if (service === undefined) throw new Error('there is no process')
  const ids = await createItems({ port, headers }, waits, 300)
  if (ids.length < waits) throw new Error('creating the items took too long')
  return { port, headers, service, ids }
}

/** Reads over one connection for `readSeconds`. @returns the response times in milliseconds */
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
