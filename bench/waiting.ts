/**
 * Measures how much memory waiting reads take. Linux only. First, 10,000 connections read an item each. Then each
 * connection sends a read with `Prefer: wait=60`: one half GET requests for an item, the other half HEAD requests for
 * the list. Resident memory is measured 5 s after each step.
 */

import { setTimeout as delay } from 'node:timers/promises'
import { residentBytes } from '../test/support/process.js'
import { newAccess } from './lib/access.js'
import { type Request, requests } from './lib/client.js'
import { createItems, openConnections } from './lib/connections.js'
import { describeMachine } from './lib/machine.js'
import { readOptions } from './lib/options.js'
import { cores, kill, pinSelf } from './lib/processes.js'
import { count, print, report, table } from './lib/results.js'
import { itemStore } from './peers/sides.js'

readOptions('Usage: npm run bench -- waiting [options]   (Linux only)\n\n', {})

const waits = 10_000
const settlingTime = 5_000 // milliseconds

const facts = describeMachine()
pinSelf(cores.load)
const { port, secret, headers } = await newAccess()
const settings = { MAX_CONNECTIONS: String(waits + 1500) }
const programs = await itemStore.start({ port, secret, items: 0, settings })
const rows: string[][] = []
try {
  await measureSteps()
} finally {
  await kill(...programs)
}
report('Waiting', facts, [table(['', 'memory, MB'], rows)])

async function measureSteps() {
  const ids = await createItems({ port, headers }, waits, 300)
  if (ids.length < waits) throw new Error('creating the items took too long')
  const readOf = (n: number): Request => ({ ...requests.read(ids[n] ?? ''), headers })
  const listHead: Request = { ...requests.list(), method: 'HEAD', headers }

  // In this warm-up, Node.js compiles code, and buffers grow to their final size.
  const first = await openConnections(port, 1000)
  await Promise.all(first.map((one) => one.ask(readOf(0))))
  for (const one of first) one.close()
  await measure('before')
  const all = await openConnections(port, waits)
  const tags = await Promise.all(all.map(async (one, n) => (await one.ask(readOf(n))).tag))
  const listTag = (await all[0]?.ask(listHead))?.tag
  await measure(`${count(waits)} idle connections`)
  const answered: number[] = []
  const answers = all.map(async (one, n) => {
    const isList = n % 2 === 1
    const tag = (isList ? listTag : tags[n]) ?? ''
    const waitHeaders = { ...headers, 'If-None-Match': tag, Prefer: 'wait=60' }
    const { status } = await one.ask({ ...(isList ? listHead : readOf(n)), headers: waitHeaders })
    answered.push(status)
  })
  for (const answer of answers) answer.catch(() => {}) // ignores reads whose connection closes during the wait
  await measure(`${count(waits)} waiting reads`)
  if (answered.length > 0) throw new Error(`reads did not wait, but got status ${answered}`)
}

async function measure(title: string) {
  await delay(settlingTime)
  const [service] = programs
  const megabytes = (residentBytes({ child: { pid: service?.pid } }) / 1e6).toFixed(1)
  rows.push([title, megabytes])
  print(`  ${title}: ${megabytes} MB`)
}
