/**
 * Reads that wait for a change, and lists that have not changed: memory, waiting times, processor time. Linux only.
 *
 * First, 10,000 connections read an item each. Then each waits with `Prefer: wait=60`: half of them with
 * GET for that item, half with HEAD for the list. One more item is created, and those that wait for the
 * list are answered. Memory is that of the process (resident), 5 s after each step and 15 s after the last.
 * Then one more connection reads one item again and again for 10 s.
 *
 * Then the store holds 100,000 items, and 32 connections send requests of each kind, in turns of 2 s, 5
 * each. CPU time is that of the process of the service, for each response; the figures are medians.
 */

import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort, residentBytes } from '../test/support/process.js'
import { type RawRequest, requests } from './lib/client.js'
import { type Connection, createItems, openConnections } from './lib/connections.js'
import { describeLoad, sendLoad } from './lib/load.js'
import { describeMachine } from './lib/machine.js'
import { readOptions } from './lib/options.js'
import { cores, pinSelf, startServer, stop } from './lib/processes.js'
import { count, print, report, table } from './lib/results.js'
import { median, quantile } from './lib/statistics.js'
import { cpuSeconds, signToken } from './lib/turns.js'
import itemStore from './peers/item-store.js'

const help = `Usage: npm run bench -- waiting [options]   (needs wrk; Linux only)

`
readOptions(help, {})

const waits = 10_000
const readSeconds = 10
/** From a step until memory is measured, in milliseconds; at the end it is given back once the service is idle. */
const settlingTime = 5_000
const idleTime = 15_000
const listItems = 100_000
const turns = 5
const turnSeconds = 2
const loadConnections = 32

const facts = [...describeMachine(), describeLoad()]
for (const fact of facts) print(fact)
pinSelf(cores.load)
const { phases, answering } = await waiting()
const kinds = await revalidating()
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
    `The create and the ${count(waits / 2)} responses to those that waited for the list took ` +
      `${(answering.cpu * 1000).toFixed(0)} ms of CPU time, ${((answering.cpu / (waits / 2)) * 1e6).toFixed(1)} µs for ` +
      `each, and the last was there after ${answering.time.toFixed(0)} ms.`,
    table(
      ['', 'CPU time, µs', 'responses per second'],
      kinds.map(({ title, results }) => [
        title,
        median(results.map(({ cpu }) => cpu)).toFixed(1),
        count(median(results.map(({ rate }) => rate))),
      ]),
    ),
  ],
})

/** Memory and the times of other reads, as reads begin to wait, are answered and go. */
async function waiting() {
  const { port, headers, service, ids } = await start(waits)
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
    // Code is compiled, and buffers get the size that they keep.
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
        if (status !== 200) throw new Error(`a read that waited was answered ${status}`)
        answered += 1
      })
    })
    for (const answer of answers) answer.catch(() => {}) // those that are closed while they wait
    await measure(`${count(waits)} waiting reads`)
    if (answered > 0) throw new Error(`${answered} reads have not waited`)
    const changed = performance.now()
    const cpuBefore = cpuSeconds(service)
    await createItems({ port, headers }, 1, 10)
    await Promise.all(answers.filter((_, n) => n % 2 === 1))
    const time = performance.now() - changed
    const answering = { time, cpu: cpuSeconds(service) - cpuBefore }
    await measure('half of them answered')
    for (const one of all) one.close()
    await measure('all closed', idleTime)
    return { phases, answering }
  } finally {
    reader.close()
    await stop(service)
  }
}

/** CPU time and rate of what a client asks to see that nothing has changed. */
async function revalidating() {
  const { port, headers, service, ids } = await start(listItems)
  const [reader] = await openConnections(port, 1)
  const tagOf = async (read: { method: string; path: string }) =>
    (await reader?.ask({ ...read, method: 'HEAD', headers }))?.tag ?? ''
  const read = requests.read(ids[0] ?? '')
  const list = requests.list()
  const kinds = [
    { title: 'health check', request: { method: 'GET', path: '/api/v1/health' }, headers: {} },
    {
      title: `list of ${count(listItems)} that has not changed: 304`,
      request: list,
      headers: { ...headers, 'If-None-Match': await tagOf(list) },
    },
    {
      title: 'item that has not changed: 304',
      request: read,
      headers: { ...headers, 'If-None-Match': await tagOf(read) },
    },
    { title: 'item: 200', request: read, headers },
  ].map((kind) => ({ ...kind, results: [] as { rate: number; cpu: number }[] }))
  try {
    for (let turn = 0; turn <= turns; turn += 1) {
      for (const { request, headers, results } of kinds) {
        const before = cpuSeconds(service)
        const { rate, answers } = await sendLoad({
          ...{ port, headers, requests: [request], values: undefined, waitsForLast: false },
          ...{ connections: loadConnections, seconds: turnSeconds },
        })
        const cpu = ((cpuSeconds(service) - before) / answers) * 1e6
        if (turn > 0) results.push({ rate, cpu }) // the first warms up
      }
    }
    return kinds
  } finally {
    reader?.close()
    await stop(service)
  }
}

/** Starts the service with so many items. */
async function start(items: number) {
  const port = await freePort()
  const secret = randomBytes(32).toString('base64url')
  const { args, env } = itemStore.program({ port, secret })
  const more = { MAX_CONNECTIONS: String(waits + 1500) }
  const service = await startServer({ port, args, env: { ...env, ...more } })
  const headers = { Authorization: `Bearer ${signToken(secret, 'bench')}` }
  const ids = await createItems({ port, headers }, items, 300)
  if (ids.length < items) throw new Error('creating the items took too long')
  return { port, headers, service, ids }
}

/**
 * Reads again and again over one connection.
 * @returns milliseconds of each
 */
async function readOneByOne(connection: Connection, read: RawRequest) {
  const times = []
  const end = performance.now() + readSeconds * 1000
  for (let begun = performance.now(); begun < end; ) {
    const { status } = await connection.ask(read)
    if (status !== 200) throw new Error(`a read was answered ${status}`)
    const now = performance.now()
    times.push(now - begun)
    begun = now
  }
  return times
}
